import { Body, Controller, Get, Param, Post, Query, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditAction } from '../audit-logs/index.js';
import { MerchantsService } from './merchants.service.js';
import { ChangeMerchantVisibilityRequest, MerchantResponse, MerchantsQuery } from './merchants.dto.js';
import { EXPORT_MERCHANTS, HIDE_MERCHANT, ACTIVATE_MERCHANT } from './merchants.docs.js';

const ADMIN = { token: 'none', role: 'admin' } as const;

@Topic('Merchants')
@Controller()
export class MerchantsController {
  constructor(private readonly merchants: MerchantsService) {}

  @Get('merchants/export')
  @DashboardOperation(EXPORT_MERCHANTS, { ...ADMIN, action: auditAction('merchant.export') })
  export(@CurrentActor() actor: DashboardActor, @Query() query: MerchantsQuery): Promise<StreamableFile> {
    return this.merchants.export(actor, query.environment);
  }

  @Post('merchants/:id/hide')
  @DashboardOperation(HIDE_MERCHANT, { ...ADMIN, action: auditAction('merchant.hide') })
  hide(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: ChangeMerchantVisibilityRequest,
  ): Promise<MerchantResponse> {
    return this.merchants.hide(actor, id, request.environment);
  }

  @Post('merchants/:id/activate')
  @DashboardOperation(ACTIVATE_MERCHANT, { ...ADMIN, action: auditAction('merchant.activate') })
  activate(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: ChangeMerchantVisibilityRequest,
  ): Promise<MerchantResponse> {
    return this.merchants.activate(actor, id, request.environment);
  }
}
