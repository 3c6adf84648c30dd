import { randomUUID } from 'node:crypto';
import { REDIRECT_URI } from '../../support/agents/agent-logins.js';
import { UNKNOWN_ID } from '../../support/documents/operations.js';
import { eventually } from '../../support/eventually.js';
import { countOf, useTestApp, type RequestOptions } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../../support/pages/visitor.js';

const service = useTestApp({
  ...BEHIND_PROXY,
  AGENT_AUTHORIZATIONS_PER_MINUTE: '20',
  AGENT_REGISTRATIONS_PER_HOUR: '20',
  OAUTH_REQUESTS_PER_MINUTE: '60',
  PLATFORM_REQUESTS_PER_MINUTE: '60',
});

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
    // A hosted agent registers from the same address with every organization.
    const other = await service.anotherOrganization();
    const elsewhere = path.replace(service.development.clientId, other.development.clientId);
    expect((await service.request(elsewhere, { body })).status).toBe(201);
    // Other spellings and invented API clients do not evade the limits.
    const capitals = path.replace(service.development.clientId, service.development.clientId.toUpperCase());
    expect((await service.request(capitals, { body })).status).toBe(429);
    const invented = await Promise.all(
      Array.from({ length: 200 }, () => service.request(`/connections/${randomUUID()}/register`, { body })),
    );
    expect(countOf(invented, 429)).toBeGreaterThan(10);
  });
});

describe('Endpoints for agents', () => {
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  const TOKEN = 'grant_type=refresh_token&client_id=agent&refresh_token=unknown';
  const ISSUED = '/connections';
  let host = 1;

  /** Sends a request from an address of its own. */
  const from = (address: number, path: string, { headers, ...options }: RequestOptions) =>
    service.request(path, { ...options, headers: { ...headers, 'x-forwarded-for': `192.0.2.${address}` } });

  const OPERATIONS: readonly [string, () => string, () => RequestOptions][] = [
    [
      'token',
      () => `${ISSUED}/${service.development.clientId}/token`,
      () => ({ body: TOKEN, headers: FORM }),
    ],
    [
      'revoke',
      () => `${ISSUED}/${service.development.clientId}/revoke`,
      () => ({ body: 'client_id=agent&token=unknown', headers: FORM }),
    ],
    [
      'register',
      () => `${ISSUED}/${service.development.clientId}/register`,
      () => ({ body: { redirect_uris: [REDIRECT_URI] } }),
    ],
    [
      'complete',
      () => `/mcp/authorizations/${UNKNOWN_ID}/complete`,
      () => ({ body: { external_user_id: 'user-1' }, as: service.development }),
    ],
  ];

  it.each(OPERATIONS)(
    'refuse bodies that are too large or have another media type: %s',
    async (_name, path, options) => {
      const address = (host += 1);
      const large = { ...options(), body: 'x'.repeat(700_000) };
      expect((await from(address, path(), large)).status).toBe(413);
      const { headers, ...rest } = options();
      const packed = { ...rest, body: 'x', headers: { ...headers, 'content-encoding': 'compress' } };
      expect((await from(address, path(), packed)).status).toBe(415);
    },
  );

  it.each(OPERATIONS)('return 500 and 503 if the database fails: %s', async (_name, path, options) => {
    const address = (host += 1);
    {
      await using _settings = await service.database.hide('agent_setting');
      await using _tokens = await service.database.hide('agent_refresh_token');
      await using _authorizations = await service.database.hide('agent_authorization');
      expect((await from(address, path(), options())).status).toBe(500);
    }
    await service.database.cutOff();
    expect((await from(address, path(), options())).status).toBe(503);
    await service.database.reconnect();
    await eventually('the service is ready', async () => (await service.request('/readyz')).status === 200);
  });

  it.each(OPERATIONS)('limit the requests: %s', async (_name, path, options) => {
    const address = (host += 1);
    const responses = await Promise.all(Array.from({ length: 70 }, () => from(address, path(), options())));
    expect(countOf(responses, 429)).toBeGreaterThanOrEqual(10);
  });

  it.each([
    () => `/.well-known/oauth-protected-resource/mcp/${service.development.clientId}`,
    () => `/.well-known/oauth-authorization-server/connections/${service.development.clientId}`,
  ])('limit the requests for metadata', async (path) => {
    const address = (host += 1);
    const responses = await Promise.all(Array.from({ length: 70 }, () => from(address, path(), {})));
    expect(countOf(responses, 429)).toBeGreaterThanOrEqual(10);
  });
});
