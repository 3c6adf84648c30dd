import type { Command } from 'commander';
import type { DetectedAccountResponse } from '@merchant-connectivity/sdk';
import { timeOf } from '../output.js';
import { action, type Session } from '../program.js';

export function addDetected(program: Command): void {
  program
    .command('detected')
    .description('detected accounts')
    .command('search <names...>')
    .description('search the detected accounts of a user by the names of merchants')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .action(action(search));
}

async function search(
  session: Session,
  { user }: { readonly user: string },
  ...names: string[]
): Promise<void> {
  const results = await session.platform().searchDetectedAccounts({ external_user_id: user, names });
  session.output.table(results, {
    name: ({ name }: DetectedAccountResponse) => name,
    detected: ({ detected }: DetectedAccountResponse) => detected,
    since: ({ detected_at: time }: DetectedAccountResponse) => time && timeOf(time),
  });
}
