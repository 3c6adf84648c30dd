import { OperatorError } from '../../infrastructure/errors/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH, validateText } from '../../infrastructure/validation/index.js';
import { ApiClientsService } from '../../modules/api-clients/index.js';
import { OPERATOR } from '../../modules/audit-logs/index.js';
import { UserErasuresService } from '../../modules/external-users/index.js';
import { commandGroup, operatorCommand, option } from '../operator-command.js';
import { readSecret } from './input.js';
import { CLIENT } from './options.js';

interface UserOptions {
  readonly client: string;
  readonly user?: string;
}

const OPTIONS = {
  client: CLIENT,
  user: option(
    '--user <external_user_id>',
    'the user, as the client names them (default: read from standard input, so that the list of processes does not show it)',
  ),
};

const erase = operatorCommand<UserOptions>(
  {
    name: 'erase',
    description:
      'Erase everything that is stored about a user of a client. MCP tokens are revoked at once; the background work of the service ' +
      'does the rest. You can safely repeat the command',
    options: OPTIONS,
  },
  async (app, options) => {
    const {
      id: clientId,
      organizationId,
      environment,
    } = await app.get(ApiClientsService).require(options.client);
    const client = { clientId, organizationId, environment };
    return app.get(UserErasuresService).request(client, await userOf(options), OPERATOR);
  },
);

const erasure = operatorCommand<UserOptions>(
  { name: 'erasure', description: 'Show the progress of the last erasure of a user', options: OPTIONS },
  async (app, options) => {
    const { id: clientId } = await app.get(ApiClientsService).require(options.client);
    const found = await app.get(UserErasuresService).find({ clientId }, await userOf(options));
    if (!found) throw new OperatorError('There is no erasure of a user with this ID.');
    return found;
  },
);

export const EXTERNAL_USER_COMMAND = commandGroup('external-user', erase, erasure);

/** @throws OperatorError if no user can have this identifier */
async function userOf({ user }: UserOptions): Promise<string> {
  const externalUserId = user ?? (await readSecret());
  const problem = validateText('user', externalUserId, MAX_EXTERNAL_USER_ID_LENGTH);
  if (problem !== undefined) throw new OperatorError(problem);
  return externalUserId;
}
