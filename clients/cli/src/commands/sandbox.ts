import type { Command } from 'commander';
import { fieldsOf } from '../output.js';
import { action, integerOption, type Session } from '../program.js';

export function addSandbox(program: Command): void {
  const sandbox = program.command('sandbox').description('simulate users and merchants in development');
  const withAccount = (command: Command): Command =>
    command
      .requiredOption('--user <id>', 'your own identifier for the user')
      .requiredOption('--merchant <id>', 'the merchant, as listed by mcs merchants')
      .option('--session <id>', 'one of your sessions');
  withAccount(sandbox.command('link')).description('the user links an account').action(action(link));
  withAccount(sandbox.command('disconnect'))
    .description('the merchant asks the user to log in again')
    .action(action(disconnect));
  sandbox
    .command('detect <merchants...>')
    .description('the platform detects that the user has accounts at these merchants, by name or ID')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .action(action(detect));
}

interface AccountOptions {
  readonly user: string;
  readonly merchant: string;
  readonly session?: string;
}

const accountOf = ({ user, merchant, session }: AccountOptions) => ({
  external_user_id: user,
  merchant_id: integerOption('--merchant', merchant) ?? 0,
  ...(session !== undefined && { session_id: session }),
});

async function link(session: Session, options: AccountOptions): Promise<void> {
  const linked = await session.platform().linkSandboxAccount(accountOf(options));
  session.output.result(linked, ...fieldsOf(linked));
}

async function disconnect(session: Session, options: AccountOptions): Promise<void> {
  const disconnected = await session.platform().disconnectSandboxAccount(accountOf(options));
  session.output.result(disconnected, ...fieldsOf(disconnected));
}

async function detect(
  session: Session,
  { user }: { readonly user: string },
  ...merchants: string[]
): Promise<void> {
  const detected = await session.platform().detectSandboxAccounts({
    external_user_id: user,
    merchants: merchants.map((merchant) => (/^\d+$/.test(merchant) ? Number(merchant) : merchant)),
  });
  session.output.result(detected, ...fieldsOf(detected));
}
