import { Controller, Get, Query } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { MerchantsService } from './merchants.service.js';
import { LIST_MERCHANTS, ListMerchantsQuery, MerchantResponse } from './merchants.dto.js';

@Topic(
  'Merchants',
  'Merchants, and which of them you hide: the SDK and agents do not offer these to your users. Searches for detected accounts are not affected.',
  20,
)
@Controller()
export class MerchantsController {
  constructor(private readonly merchants: MerchantsService) {}

  @Get('merchants')
  @PlatformOperation(LIST_MERCHANTS, 'merchants:read')
  list(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ListMerchantsQuery,
  ): Promise<MerchantResponse[]> {
    return this.merchants.list(client, query.environment);
  }
}
