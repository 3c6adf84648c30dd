import { auditEntries } from '../support/logs/audited.js';
import { COMMAND_TIMEOUT, startTestAppWithCommands, type Commands } from '../support/programs/commands.js';
import { UNKNOWN_ID } from '../support/documents/operations.js';
import { Program } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { basic, type TestApp } from '../support/test-app.js';

import.meta.jest.setTimeout(COMMAND_TIMEOUT);

let service: TestApp;
let commands: Commands;

beforeAll(async () => {
  ({ service, commands } = await startTestAppWithCommands());
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
});

const statusOf = async (secret: string): Promise<number> => {
  rememberSecret(secret);
  const authorization = basic({ clientId: service.development.clientId, secret });
  return (await service.request('/merchants', { headers: { authorization } })).status;
};

describe('mcs-admin api-key', () => {
  it('creates, lists, rotates and revokes a key, and records it', async () => {
    const client = `--client ${service.development.clientId}`;
    const created = await commands.result<{ api_key_id: string; key: string }>(
      `api-key create ${client} --name 'Order service' --scope merchants:read,accounts:read --ip-range 127.0.0.0/8 --expires-in-days 30`,
    );
    const { api_key_id: id, key } = created;
    expect(await statusOf(key)).toBe(200);
    expect(created).toEqual({
      api_key_id: id,
      client_id: service.development.clientId,
      name: 'Order service',
      scopes: ['accounts:read', 'merchants:read'],
      ip_ranges: ['127.0.0.0/8'],
      expires_at: expect.any(String),
      key: expect.stringMatching(/^mck_dev_/),
    });
    const next = await commands.result<{ api_key_id: string; key: string }>(
      `api-key rotate --key ${id} --overlap-hours 1`,
    );
    expect([await statusOf(key), await statusOf(next.key)]).toEqual([200, 200]);
    expect(await commands.result(`api-key list ${client}`)).toMatchObject([
      { api_key_id: id, rotated_at: expect.any(String), created_by: 'operator' },
      { api_key_id: next.api_key_id, name: 'Order service', rotated_at: null },
    ]);
    const revoked = { api_key_id: next.api_key_id, revoked: true };
    const revoke = `api-key revoke --key ${next.api_key_id}`;
    expect(await commands.result(revoke)).toEqual({ ...revoked, changed: true });
    expect(await commands.result(revoke)).toEqual({ ...revoked, changed: false });
    const entries = (await auditEntries(service)).filter(({ event }) => event.action.startsWith('key.'));
    expect(
      entries.map(({ event, target }) => [event.action, target.name, target.environment]).toSorted(),
    ).toEqual(
      ['key.create', 'key.end', 'key.rotate'].map((action) => [action, 'Order service', 'development']),
    );
  });

  it.each([
    [
      `create --client ${UNKNOWN_ID} --name a --scope merchants:read`,
      `There is no API client ${UNKNOWN_ID}.`,
    ],
    [`list --client ${UNKNOWN_ID}`, `There is no API client ${UNKNOWN_ID}.`],
    [`rotate --key ${UNKNOWN_ID}`, `There is no API key ${UNKNOWN_ID}.`],
    [`revoke --key ${UNKNOWN_ID}`, `There is no API key ${UNKNOWN_ID}.`],
  ])('refuses %s', async (command, message) => {
    const { errors } = await commands.run(`api-key ${command}`);
    expect(errors).toContain(message);
  });
});

describe('mcs-admin client restrict-secret', () => {
  it('lets the secret only sign, and accepts it for everything again', async () => {
    const { clientId, secret } = (await service.anotherOrganization()).development;
    const status = async () =>
      (await service.request('/merchants', { headers: { authorization: basic({ clientId, secret }) } }))
        .status;
    const restrict = (to: string) =>
      commands.result(`client restrict-secret --client ${clientId} --to ${to}`);
    expect(await restrict('signing')).toEqual({ client_id: clientId, secret: 'signing', changed: true });
    expect(await status()).toBe(401);
    expect(await restrict('signing')).toMatchObject({ changed: false });
    expect(await restrict('everything')).toMatchObject({ changed: true });
    expect(await status()).toBe(200);
  });
});
