import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { Clock, SECOND } from '../../src/infrastructure/time/index.js';
import { ApiKeysService } from '../../src/modules/api-keys/index.js';
import { exampleEvent, WebhookPublisher } from '../../src/modules/webhooks/index.js';
import { blocksOf } from '../support/documents/documents.js';
import { eventually } from '../support/eventually.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { StubIssuer } from '../support/logins/stub-issuer.js';
import { useTestApp } from '../support/test-app.js';
import { queueIsEmpty, RETRY_AT_ONCE, useReceiver } from '../support/webhooks/webhook-receiver.js';

interface Workflow {
  readonly permissions: object;
  readonly jobs: { readonly webhooks: { readonly env: object; readonly steps: readonly Step[] } };
}

interface Step {
  readonly name: string;
  readonly run: string;
}

const service = useTestApp({ ...RETRY_AT_ONCE, WEBHOOK_TARGETS: 'any' }, { backgroundWork: true });
const receiver = useReceiver();
let issuer: StubIssuer;

beforeAll(async () => {
  issuer = await StubIssuer.start();
});
afterAll(() => issuer.close());

const [WORKFLOW] = blocksOf('docs/continuous-integration.md')
  .filter(({ language }) => language === 'yaml')
  .map(({ code }) => parse(code) as Workflow);

/** Runs the steps of a job as GitHub does: each in a shell of its own, with the variables that earlier steps have set. */
async function runJob(environment: Readonly<Record<string, string>>): Promise<string[]> {
  const file = join(mkdtempSync(join(tmpdir(), 'job-')), 'environment');
  writeFileSync(file, '');
  const outputs: string[] = [];
  for (const { run } of WORKFLOW?.jobs.webhooks.steps ?? []) {
    const variables = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    for (const line of variables) rememberSecret(line.slice(line.indexOf('=') + 1));
    const set = variables.map((line) => [
      line.slice(0, line.indexOf('=')),
      line.slice(line.indexOf('=') + 1),
    ]);
    const env = { PATH: process.env.PATH, GITHUB_ENV: file, ...environment, ...Object.fromEntries(set) };
    outputs.push(
      (
        await promisify(execFile)('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', run], {
          env,
        })
      ).stdout,
    );
  }
  return outputs;
}

describe('The workflow of docs/continuous-integration.md', () => {
  it('tests a webhook endpoint, sends again what failed, and reads the log, without a stored secret', async () => {
    const { clientId } = service.production;
    const subject = 'repo:example@1234/shop@5678:ref:refs/heads/main';
    const trust = {
      issuer: issuer.url,
      audience: null,
      subject: 'repo:example@1234/shop@5678:*',
      claims: {},
    };
    const scopes = ['webhook_endpoints:write', 'request_logs:read'];
    const { token: key } = await service.app
      .get(ApiKeysService)
      .create(clientId, { name: 'GitHub', scopes, trust });
    rememberSecret(key);
    const admin = await service.login('admin');
    const body = { environment: 'production', url: `${receiver.url}/ci` };
    const endpoint = await service.request<{ id: string }>('/webhook-endpoints/create', {
      body,
      login: admin,
    });
    // All attempts to deliver the event fail.
    receiver.response = 500;
    const client = { clientId, environment: 'production' as const };
    const failed = await service.app.get(WebhookPublisher).publish(client, exampleEvent('CARD_UPDATED'));
    await eventually('it was sent', () => receiver.arrivals.length > 0 || undefined);
    await queueIsEmpty(service);
    receiver.arrivals.length = 0;
    const refused = await service.request('/mcp/tokens/create', { body: {}, as: service.production });
    expect(refused.status).toBe(400);
    const now = Math.floor(service.app.get(Clock).milliseconds() / SECOND);
    const claims = { iss: issuer.url, sub: subject, jti: randomUUID(), iat: now, exp: now + 300 };
    const credential = randomUUID();
    issuer.job = { credential, claims };
    const environment = {
      CLIENT_ID: clientId,
      DASHBOARD: service.baseUrl,
      ENDPOINT_ID: endpoint.body.id,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: credential,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/token?api-version=2.0`,
    };
    receiver.response = 200;
    const [masked, done = ''] = await runJob(environment);
    expect(WORKFLOW?.permissions).toEqual({ 'id-token': 'write' });
    expect(masked).toMatch(/^::add-mask::eyJ/);
    expect(done).toContain('"received":true');
    expect(done).toContain(failed);
    expect(done).not.toContain('/mcp/tokens/create');
    await eventually(
      'the event is sent again',
      () => receiver.arrivals.some(({ headers }) => headers['webhook-id'] === failed) || undefined,
    );
    // The next job needs a new token: the platform issues one for each.
    await expect(runJob(environment)).rejects.toThrow(/400/);
    issuer.job = { credential, claims: { ...claims, jti: randomUUID() } };
    await runJob(environment);
    issuer.job = { credential, claims: { ...claims, jti: randomUUID(), sub: 'repo:example/shop-evil:ref' } };
    await expect(runJob(environment)).rejects.toThrow(/400/);
  }, 120_000);
});
