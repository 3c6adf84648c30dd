import type { Command } from 'commander';
import type { MerchantResponse } from '@merchant-connectivity/sdk';
import { action, type Session } from '../program.js';

export function addMerchants(program: Command): void {
  program
    .command('merchants')
    .description('merchants and their IDs')
    .command('list', { isDefault: true })
    .description('list merchants')
    .option('--name <text>', 'only merchants whose name contains this text')
    .action(action(list));
}

async function list(session: Session, { name = '' }: { readonly name?: string }): Promise<void> {
  const all = await session.platform().listMerchants();
  const merchants = all.filter((merchant) => merchant.name.toLowerCase().includes(name.toLowerCase()));
  session.output.table(merchants, {
    id: ({ id }: MerchantResponse) => id,
    name: (merchant: MerchantResponse) => merchant.name,
    hidden: ({ hidden }: MerchantResponse) => hidden,
  });
}
