import type { Command } from 'commander';
import type { MerchantAccountResponse } from '@merchant-connectivity/sdk';
import { fieldsOf, timeOf } from '../output.js';
import {
  action,
  countOf,
  first,
  integerOption,
  withListOptions,
  type ListOptions,
  type Session,
} from '../program.js';

export function addAccounts(program: Command): void {
  const accounts = program.command('accounts').description('accounts of your users at merchants');
  withListOptions(accounts.command('list', { isDefault: true }))
    .description('list the accounts of a user, and whether they are connected')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .action(action(list));
  accounts
    .command('unlink')
    .description('disconnect an account of a user, and end the sign-in at the merchant')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .requiredOption('--merchant <id>', 'the merchant, as listed by mcs merchants')
    .action(action(unlink));
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

async function unlink(
  session: Session,
  { user, merchant }: { readonly user: string; readonly merchant: string },
): Promise<void> {
  const account = await session.platform().unlinkAccount({
    external_user_id: user,
    merchant_id: integerOption('--merchant', merchant) ?? 0,
  });
  session.output.result(account, ...fieldsOf(account));
}
