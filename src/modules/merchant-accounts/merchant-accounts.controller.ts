import { Controller, Get, Query } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Attribution, type RequestAttribution } from '../../infrastructure/http/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import {
  LIST_MERCHANT_ACCOUNTS,
  ListMerchantAccountsQuery,
  MERCHANT_ACCOUNTS_TOPIC,
  MerchantAccountPage,
} from './merchant-accounts.dto.js';
import { MerchantAccountsService } from './merchant-accounts.service.js';

@Topic(...MERCHANT_ACCOUNTS_TOPIC)
@Controller()
export class MerchantAccountsController {
  constructor(private readonly accounts: MerchantAccountsService) {}

  @Get('merchant-accounts')
  @PlatformOperation(LIST_MERCHANT_ACCOUNTS, 'accounts:read')
  list(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ListMerchantAccountsQuery,
    @Attribution() attribution: RequestAttribution,
  ): Promise<MerchantAccountPage> {
    return this.accounts.list(client, query, attribution);
  }
}
