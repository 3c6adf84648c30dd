import { HOUR, SECOND } from '../../src/infrastructure/time/index.js';
import { PLATFORM } from '../../src/modules/audit-logs/index.js';
import { COMMAND_TIMEOUT, startTestAppWithCommands, type Commands } from '../support/programs/commands.js';
import { eventually } from '../support/eventually.js';
import { UNKNOWN_ID } from '../support/documents/operations.js';
import { Program } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import type { TestApp } from '../support/test-app.js';

import.meta.jest.setTimeout(COMMAND_TIMEOUT);

interface AuditedEntry {
  readonly event: { readonly action: string };
  readonly actor: { readonly name: string };
  readonly target: object;
}

interface ListedToken {
  readonly service_token_id: string;
  readonly scopes: readonly string[];
  readonly last_used_at: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

let service: TestApp;
let commands: Commands;

beforeAll(async () => {
  ({ service, commands } = await startTestAppWithCommands());
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
});

/** Publishes an invalid event, so the status is 400 if the token is accepted. */
const statusWith = async (token: string): Promise<number> =>
  (await service.request('/events', { body: {}, token })).status;

const lastUseOf = async (id: string): Promise<Date | null | undefined> =>
  (
    await service.database.query<{ last_used_at: Date | null }>(
      'SELECT last_used_at FROM service_token WHERE id = $1',
      [id],
    )
  )[0]?.last_used_at;

describe('mcs-admin service-token', () => {
  it('creates, lists, rotates and revokes a token that the service accepts', async () => {
    const created = await commands.result<{ service_token_id: string; token: string }>(
      "service-token create --name 'Card updater' --scope events:publish --scope detections:write,events:publish",
    );
    const { service_token_id: id, token } = created;
    rememberSecret(token);
    expect(created).toEqual({
      service_token_id: id,
      name: 'Card updater',
      scopes: ['events:publish', 'detections:write'],
      token: expect.stringMatching(/^mcs_svc_/),
    });
    expect(await statusWith(token)).toBe(400);
    const listed = async (wanted: string): Promise<ListedToken | undefined> =>
      (await commands.result<ListedToken[]>('service-token list')).find(
        ({ service_token_id }) => service_token_id === wanted,
      );
    await eventually('the use is recorded', async () => (await lastUseOf(id)) !== null);
    expect(await listed(id)).toEqual({
      service_token_id: id,
      name: 'Card updater',
      scopes: ['events:publish', 'detections:write'],
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      expires_at: null,
      revoked_at: null,
    });

    const next = await commands.result<{ service_token_id: string; token: string }>(
      `service-token rotate --token ${id}`,
    );
    rememberSecret(next.token);
    expect(next.token).not.toBe(token);
    expect(await statusWith(next.token)).toBe(400);
    const { expires_at } = (await listed(id)) as ListedToken;
    expect(Math.abs(Date.parse(String(expires_at)) - Date.now() - 24 * HOUR)).toBeLessThan(60 * SECOND);

    const revoke = `service-token revoke --token ${next.service_token_id}`;
    const revoked = { service_token_id: next.service_token_id, revoked: true };
    expect(await commands.result(revoke)).toEqual({ ...revoked, changed: true });
    expect(await commands.result(revoke)).toEqual({ ...revoked, changed: false });
    expect(await listed(next.service_token_id)).toMatchObject({ revoked_at: expect.any(String) });
    await commands.expectError(
      `service-token rotate --token ${next.service_token_id}`,
      'The service token is revoked.',
    );
    await commands.expectError(
      `service-token rotate --token ${id}`,
      'The service token has been rotated already: rotate its successor.',
    );
    const { output } = await commands.run(`audit export --organization ${PLATFORM} --format ndjson`);
    const entries = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditedEntry);
    expect(entries.map(({ event, actor, target }) => [event.action, actor.name, target])).toEqual(
      ['service_token.create', 'service_token.rotate', 'service_token.revoke', 'audit_log.export'].map(
        (action) => [
          action,
          'operator',
          {
            type: action.startsWith('service') ? 'service_token' : 'audit_log',
            name: action.startsWith('service') ? 'Card updater' : null,
            environment: 'production',
          },
        ],
      ),
    );
    expect(await commands.result('audit verify')).toMatchObject({ intact: true });
  });

  it.each([
    ['create --name x --scope everything', 'Each scope must be one of events:publish, detections:write.'],
    ["create --name ' ' --scope events:publish", 'The name is blank.'],
    [`revoke --token ${UNKNOWN_ID}`, `There is no service token ${UNKNOWN_ID}.`],
    ['rotate --token me', 'There is no service token me.'],
    [`rotate --token ${UNKNOWN_ID} --overlap-hours 169`, 'The overlap must be between 0 and 168 hours.'],
  ])('rejects %s', (command, sentence) => commands.expectError(`service-token ${command}`, sentence));
});
