import type { Command } from 'commander';
import type { MerchantAccountResponse } from '@merchant-connectivity/sdk';
import { timeOf } from '../output.js';
import { action, countOf, first, withListOptions, type ListOptions, type Session } from '../program.js';

export function addAccounts(program: Command): void {
  const accounts = program.command('accounts').description('accounts of your users at merchants');
  withListOptions(accounts.command('list', { isDefault: true }))
    .description('list the accounts of a user, and whether they are connected')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .action(action(list));
}

async function list(session: Session, options: ListOptions & { readonly user: string }): Promise<void> {
  const pages = session.platform().listMerchantAccounts({ external_user_id: options.user });
  session.output.table(await first(countOf(options), pages), {
    id: ({ merchant }: MerchantAccountResponse) => merchant.id,
    merchant: ({ merchant }: MerchantAccountResponse) => merchant.name,
    state: ({ state }: MerchantAccountResponse) => state,
    since: ({ since }: MerchantAccountResponse) => timeOf(since),
    session: ({ session_id: id }: MerchantAccountResponse) => id,
  });
}
