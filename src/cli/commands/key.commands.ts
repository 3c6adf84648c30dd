import { Sealer } from '../../infrastructure/crypto/index.js';
import { TokenSigningKeysService, type TokenSigningKeyStatus } from '../../modules/oauth/index.js';
import { commandGroup } from '../operator-command.js';

export const DATA_KEY_COMMAND = commandGroup('data-key');

DATA_KEY_COMMAND.command('rewrap')
  .description(
    'Wrap the data keys with KEY_ENCRYPTION_KEY, so that you can remove PREVIOUS_KEY_ENCRYPTION_KEY',
  )
  .onApplication(async (app) => ({ data_keys: await app.get(Sealer).rewrapDataKeys() }));

export const TOKEN_KEY_COMMAND = commandGroup('token-key');

TOKEN_KEY_COMMAND.command('list')
  .description('List the signing keys of access tokens, newest first')
  .onApplication(async (app) => (await app.get(TokenSigningKeysService).describe()).map(toReport));

TOKEN_KEY_COMMAND.command('rotate')
  .description('Publish a new key, which signs access tokens after 10 minutes')
  .onApplication(async (app) => toReport(await app.get(TokenSigningKeysService).rotate()));

function toReport({ kid, algorithm, createdAt, signsFrom, state }: TokenSigningKeyStatus): object {
  return { kid, algorithm, created_at: createdAt, signs_from: signsFrom, state };
}
