import { Option } from 'commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH, validateText } from '../../infrastructure/validation/index.js';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { OPERATOR } from '../../modules/audit-logs/index.js';
import { UserErasuresService } from '../../modules/external-users/index.js';
import { commandGroup } from '../operator-command.js';
import { readSecret } from './input.js';
import { CLIENT } from './options.js';

interface UserOptions {
  readonly client: string;
  readonly user?: string;
}

const USER = new Option(
  '--user <external_user_id>',
  'the user, as the client names them (default: read from standard input, so that the list of processes does not show it)',
);

export const EXTERNAL_USER_COMMAND = commandGroup('external-user');

EXTERNAL_USER_COMMAND.command('erase')
  .description(
    'Erase everything that is stored about a user of a client. MCP tokens are revoked at once; the background work of the service ' +
      'does the rest. You can safely repeat the command',
  )
  .addOption(CLIENT)
  .addOption(USER)
  .onApplication<UserOptions>(async (app, options) => {
    const client = await app.get(ApiClientsService).requireForOperator(options.client);
    const { id: clientId, organizationId, environment } = client;
    return app
      .get(UserErasuresService)
      .request({ clientId, organizationId, environment }, await userOf(options), OPERATOR);
  });

EXTERNAL_USER_COMMAND.command('erasure')
  .description('Show the progress of the last erasure of a user')
  .addOption(CLIENT)
  .addOption(USER)
  .onApplication<UserOptions>(async (app, options) => {
    const { id: clientId } = await app.get(ApiClientsService).requireForOperator(options.client);
    const found = await app.get(UserErasuresService).find({ clientId }, await userOf(options));
    if (!found) throw new OperatorError('There is no erasure of a user with this ID.');
    return found;
  });

/** @throws OperatorError if no user can have this identifier */
async function userOf({ user }: UserOptions): Promise<string> {
  const externalUserId = user ?? (await readSecret('ID of the user'));
  const problem = validateText('user', externalUserId, MAX_EXTERNAL_USER_ID_LENGTH);
  if (problem !== undefined) throw new OperatorError(problem);
  return externalUserId;
}
