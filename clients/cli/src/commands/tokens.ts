import type { Command } from 'commander';
import type { MerchantConnectivity } from '@merchant-connectivity/sdk';
import { action, integerOption, type Session } from '../program.js';

export function addTokens(program: Command): void {
  const tokens = program.command('tokens').description('MCP tokens');
  tokens
    .command('create')
    .description('create an MCP token for one of your users')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .option('--expires-in <seconds>', 'lifetime of the token')
    .option('--phone <number>', 'phone number of the user, such as +12125550123')
    .action(action(create));
}

/** The options of commands that create a token. */
export interface TokenOptions {
  readonly user: string;
  readonly expiresIn?: string;
  readonly phone?: string;
}

async function create(session: Session, options: TokenOptions): Promise<void> {
  const token = await createToken(session, options);
  session.output.result(token, token.token);
  session.output.progress(
    `The token of ${options.user} expires at ${token.expires_at}. It is shown only once.`,
  );
}

/** @param lifetime seconds, unless the options have one */
export function createToken(
  session: Session,
  { user, expiresIn, phone }: TokenOptions,
  lifetime?: number,
): ReturnType<MerchantConnectivity['createMcpToken']> {
  const seconds = integerOption('--expires-in', expiresIn) ?? lifetime;
  return session.platform().createMcpToken({
    external_user_id: user,
    ...(seconds !== undefined && { expires_in: seconds }),
    ...(phone !== undefined && { phone_number: phone }),
  });
}
