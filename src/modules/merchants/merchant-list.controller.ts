import { Controller, Get, Query } from '@nestjs/common';
import { CurrentOrganization, type RequestingOrganization } from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { SharedOperation } from '../../infrastructure/surfaces/index.js';
import { LIST_MERCHANTS } from './merchants.docs.js';
import { ListMerchantsQuery, MerchantResponse } from './merchants.dto.js';
import { MerchantsService } from './merchants.service.js';

/** Apart from the other operations on merchants, because a host of the platform API must not serve those. */
@Topic(
  'Merchants',
  'Merchants, and which of them you hide: the dashboard and the SDK do not list these. Searches for detected accounts are not affected.',
)
@Controller()
export class MerchantListController {
  constructor(private readonly merchants: MerchantsService) {}

  @Get('merchants')
  @SharedOperation(LIST_MERCHANTS, { token: 'none', role: 'member' })
  list(
    @CurrentOrganization() organization: RequestingOrganization,
    @Query() query: ListMerchantsQuery,
  ): Promise<MerchantResponse[]> {
    return this.merchants.list(organization, query.environment);
  }
}
