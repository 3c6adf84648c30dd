import type { INestApplicationContext } from '@nestjs/common';
import { SCOPES } from '../../infrastructure/auth/index.js';
import type { AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { ApiKeysService, keyChanges, type IssuedKey } from '../../modules/api-keys/index.js';
import { OperatorAudit, type OperatorChange } from '../../modules/audit-logs/index.js';
import { commandGroup, parseNumber, requiredOption } from '../operator-command.js';
import { CLIENT, listed, OVERLAP_RANGE } from './options.js';

const KEY = requiredOption('--key <api_key_id>', 'the API key, as listed by `api-key list`');

export const API_KEY_COMMAND = commandGroup('api-key');

API_KEY_COMMAND.command('create')
  .description('Create an API key of a client, and print it once')
  .addOption(CLIENT)
  .requiredOption('--name <name>', 'the program that uses the key')
  .requiredOption<readonly string[]>(
    '--scope <scopes>',
    `the scopes of the key, from ${SCOPES.join(', ')}; repeat the option or separate scopes by commas`,
    listed,
  )
  .option<readonly string[]>(
    '--ip-range <ranges>',
    'accept the key only from these addresses, such as 203.0.113.0/24; repeat the option or separate ranges by commas',
    listed,
  )
  .option('--expires-in-days <days>', 'days until the key expires; by default, it never does', parseNumber)
  .onApplication<{
    client: string;
    name: string;
    scope: string[];
    ipRange?: string[];
    expiresInDays?: number;
  }>((app, { client, name, scope: scopes, ipRange: ipRanges = [], expiresInDays }) =>
    issue(app, 'key.create', (keys) => keys.create(client, { name, scopes, ipRanges, expiresInDays })),
  );

API_KEY_COMMAND.command('list')
  .description('List the API keys of a client that have not ended, without the keys themselves')
  .addOption(CLIENT)
  .onApplication<{ client: string }>(async (app, { client }) => {
    const { clientId } = await app.get(ApiKeysService).requireClient(client);
    const keys = await app.get(ApiKeysService).list(clientId);
    return keys.map((key) => ({
      api_key_id: key.id,
      name: key.name,
      scopes: key.scopes,
      ip_ranges: key.ipRanges,
      created_by: key.createdBy,
      created_at: key.createdAt,
      last_used_at: key.lastUsedAt,
      last_used_ip: key.lastUsedIp,
      expires_at: key.expiresAt,
      rotated_at: key.rotatedAt,
    }));
  });

API_KEY_COMMAND.command('rotate')
  .description('Issue a key with the same properties; the old one is accepted until the overlap ends')
  .addOption(KEY)
  .option('--overlap-hours <hours>', `how long the old key is still accepted, ${OVERLAP_RANGE}`, parseNumber)
  .onApplication<{ key: string; overlapHours?: number }>((app, { key, overlapHours }) =>
    issue(app, 'key.rotate', (keys) => keys.rotate(key, overlapHours)),
  );

API_KEY_COMMAND.command('revoke')
  .description('End an API key; every process refuses it within 5 seconds')
  .addOption(KEY)
  .onApplication<{ key: string }>(async (app, { key }) => {
    const keys = app.get(ApiKeysService);
    const { changed } = await app.get(OperatorAudit).run(
      async () => {
        const before = await keys.revoke(key);
        return { changed: !before.revokedAt, entry: await changeOf(app, 'key.end', before) };
      },
      ({ changed: isChanged, entry }) => (isChanged ? [entry] : []),
    );
    return { api_key_id: key, revoked: true, changed };
  });

/** Issues a key, and records it in the audit log. */
async function issue(
  app: INestApplicationContext,
  action: AuditAction,
  work: (keys: ApiKeysService) => Promise<IssuedKey>,
): Promise<unknown> {
  const { stored, token } = await app.get(OperatorAudit).run(
    async () => {
      const issued = await work(app.get(ApiKeysService));
      const changes = action === 'key.create' ? keyChanges({}, issued.stored) : [];
      return { ...issued, entry: { ...(await changeOf(app, action, issued.stored)), changes } };
    },
    ({ entry }) => [entry],
  );
  return {
    api_key_id: stored.id,
    client_id: stored.clientId,
    name: stored.name,
    scopes: stored.scopes,
    ip_ranges: stored.ipRanges,
    expires_at: stored.expiresAt,
    key: token,
  };
}

async function changeOf(
  app: INestApplicationContext,
  action: AuditAction,
  { clientId, name }: IssuedKey['stored'],
): Promise<OperatorChange> {
  const { organizationId, environment } = await app.get(ApiKeysService).requireClient(clientId);
  return { organizationId, action, target: { name, environment } };
}
