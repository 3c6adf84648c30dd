import { REDIRECT_URI } from '../support/agent-logins.js';
import { countOf, startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../support/visitor.js';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp({
    ...BEHIND_PROXY,
    AGENT_AUTHORIZATIONS_PER_MINUTE: '20',
    AGENT_REGISTRATIONS_PER_HOUR: '20',
  });
});
afterAll(() => service.close());

const tries = Array.from({ length: 25 });

describe('Limits for agents', () => {
  it('accept exactly 20 of 25 concurrent authorization requests per address', async () => {
    const visitor = new Visitor(service);
    const path = `/connections/${service.development.clientId}/authorize`;
    const responses = await Promise.all(tries.map(() => visitor.get(path)));
    expect([countOf(responses, 400), countOf(responses, 429)]).toEqual([20, 5]);
    expect((await new Visitor(service).get(path)).status).toBe(400);
  });

  it('accept exactly 20 of 25 concurrent registrations per address', async () => {
    const path = `/connections/${service.development.clientId}/register`;
    const body = { redirect_uris: [REDIRECT_URI] };
    const responses = await Promise.all(tries.map(() => service.request(path, { body })));
    expect([countOf(responses, 201), countOf(responses, 429)]).toEqual([20, 5]);
  });
});
