import { Controller, Get } from '@nestjs/common';
import {
  DashboardPage,
  inEachEnvironment,
  queryFrom,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { ListMerchantAccountsQuery } from './merchant-accounts.dto.js';
import { merchantAccountsPage } from './merchant-accounts.pages.js';
import { MerchantAccountsService } from './merchant-accounts.service.js';

@Controller(inEachEnvironment('merchant-accounts'))
export class MerchantAccountsPagesController {
  constructor(private readonly accounts: MerchantAccountsService) {}

  /** Shows the accounts of the user in the query. Without a user, the page contains only the form. */
  @Get()
  @DashboardPage('listMerchantAccounts', ListMerchantAccountsQuery)
  async list(@Visit() { actor, environment, query }: PageVisit): Promise<PageResponse> {
    if (!query['external_user_id']) return merchantAccountsPage();
    return submitted(
      async () => {
        const request = queryFrom(ListMerchantAccountsQuery, query, { environment });
        return merchantAccountsPage(await this.accounts.list(actor, request));
      },
      () => merchantAccountsPage(),
    );
  }
}
