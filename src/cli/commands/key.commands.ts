import { Sealer } from '../../infrastructure/crypto/index.js';
import { TokenSigningKeysService, type TokenSigningKeyStatus } from '../../modules/oauth/index.js';
import { commandGroup, operatorCommand } from '../operator-command.js';

export const DATA_KEY_COMMAND = commandGroup(
  'data-key',
  operatorCommand(
    {
      name: 'rewrap',
      description:
        'Wrap the data keys with KEY_ENCRYPTION_KEY, so that you can remove PREVIOUS_KEY_ENCRYPTION_KEY',
    },
    async (app) => ({ data_keys: await app.get(Sealer).rewrapDataKeys() }),
  ),
);

export const TOKEN_KEY_COMMAND = commandGroup(
  'token-key',
  operatorCommand(
    { name: 'list', description: 'List the signing keys of access tokens, newest first' },
    async (app) => (await app.get(TokenSigningKeysService).describe()).map(toReport),
  ),
  operatorCommand(
    { name: 'rotate', description: 'Publish a new key, which signs access tokens after 10 minutes' },
    async (app) => toReport(await app.get(TokenSigningKeysService).rotate()),
  ),
);

function toReport({ kid, algorithm, createdAt, signsFrom, state }: TokenSigningKeyStatus): object {
  return { kid, algorithm, created_at: createdAt, signs_from: signsFrom, state };
}
