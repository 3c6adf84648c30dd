import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { queryFrom, submitted, type PageResponse } from '../../infrastructure/pages/index.js';
import { ListMerchantAccountsQuery } from './merchant-accounts.dto.js';
import { merchantAccountsPage } from './merchant-accounts.pages.js';
import { MerchantAccountsService } from './merchant-accounts.service.js';

/** The page about the accounts of a user. */
@Injectable()
export class MerchantAccountsPagesService {
  constructor(private readonly accounts: MerchantAccountsService) {}

  /** @param query without a user, the page only asks for one */
  async list(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    query: Readonly<Record<string, string>>,
  ): Promise<PageResponse> {
    if (!query['external_user_id']) return merchantAccountsPage(environment, {});
    return submitted(
      async () => {
        const request = queryFrom(ListMerchantAccountsQuery, query, { environment });
        return merchantAccountsPage(environment, { found: await this.accounts.list(actor, request) });
      },
      (problem) => merchantAccountsPage(environment, { problem }),
    );
  }
}
