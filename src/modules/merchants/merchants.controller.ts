import { Body, Controller, Get, Param, Post, Query, type StreamableFile } from '@nestjs/common';
import {
  CurrentActor,
  CurrentOrganization,
  type DashboardActor,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation, SharedOperation } from '../../infrastructure/surfaces/index.js';
import { MerchantsService } from './merchants.service.js';
import {
  ChangeMerchantVisibilityRequest,
  ExportMerchantsQuery,
  ListMerchantsQuery,
  MerchantResponse,
} from './merchants.dto.js';
import { SHOW_MERCHANT, EXPORT_MERCHANTS, HIDE_MERCHANT, LIST_MERCHANTS } from './merchants.docs.js';

@Topic(
  'Merchants',
  'Merchants, and which of them you hide: the SDK and agents do not offer these to your users. Searches for detected accounts are not affected.',
)
@Controller()
export class MerchantsController {
  constructor(private readonly merchants: MerchantsService) {}

  @Get('merchants')
  @SharedOperation(LIST_MERCHANTS)
  list(
    @CurrentOrganization() organization: RequestingOrganization,
    @Query() query: ListMerchantsQuery,
  ): Promise<MerchantResponse[]> {
    return this.merchants.list(organization, query.environment);
  }

  @Get('merchants/export')
  @DashboardOperation(EXPORT_MERCHANTS)
  export(
    @CurrentActor() actor: DashboardActor,
    @Query() query: ExportMerchantsQuery,
  ): Promise<StreamableFile> {
    return this.merchants.export(actor, query.environment);
  }

  @Post('merchants/:id/hide')
  @DashboardOperation(HIDE_MERCHANT)
  hide(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: ChangeMerchantVisibilityRequest,
  ): Promise<MerchantResponse> {
    return this.merchants.setHidden(actor, id, request.environment, true);
  }

  /** `activate` is the published name. */
  @Post('merchants/:id/activate')
  @DashboardOperation(SHOW_MERCHANT)
  show(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: ChangeMerchantVisibilityRequest,
  ): Promise<MerchantResponse> {
    return this.merchants.setHidden(actor, id, request.environment, false);
  }
}
