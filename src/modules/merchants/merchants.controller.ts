import { Controller, Get, Param, Post, Query, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditAction } from '../audit-logs/index.js';
import { MERCHANT_NOT_FOUND } from './merchant-errors.js';
import { MerchantVisibilityService, MAX_MERCHANTS } from './merchant-visibility.service.js';
import {
  ChangeMerchantVisibilityRequest,
  EXAMPLE_MERCHANT,
  MerchantResponse,
  MerchantsQuery,
} from './merchants.dto.js';

const ID = { id: { description: 'The merchant’s `id`.', example: String(EXAMPLE_MERCHANT.id) } };
const MEANING =
  'Hidden merchants are left out where the dashboard and the SDK list merchants. Searches for detected accounts ' +
  'are unaffected.';
const WRONG_ENVIRONMENT = withMessages(
  INVALID_FIELD,
  'The environment field is required.',
  'The selected environment is invalid.',
);

@Topic('Merchants', 'All merchants, and which of them you hide. By login alone.')
@Controller()
export class MerchantsController {
  constructor(private readonly merchants: MerchantVisibilityService) {}

  @Get('merchants')
  @DashboardOperation({
    operationId: 'listMerchants',
    summary: 'List merchants',
    description:
      `All merchants in the order of their names, ${MAX_MERCHANTS} at most, and which of them your organization ` +
      'hides. Use it to choose which merchants your users shall see, and to find the ids of merchants. ' +
      `${MEANING} For every user.`,
    permission: { token: 'none' },
    response: [MerchantResponse],
    responseDescription: 'The merchants.',
    responseExample: [EXAMPLE_MERCHANT],
    errors: [WRONG_ENVIRONMENT],
  })
  list(@CurrentActor() actor: DashboardActor, @Query() query: MerchantsQuery): Promise<MerchantResponse[]> {
    return this.merchants.list(actor, query.environment);
  }

  @Get('merchants/export')
  @DashboardOperation({
    operationId: 'exportMerchants',
    summary: 'Export merchants',
    description:
      'The list of merchants as CSV, for spreadsheets: `id`, `name`, `hidden`. Use it to look at the list ' +
      'in a spreadsheet. A name that a spreadsheet would take for a formula begins with an apostrophe. For ' +
      'admins and owners. Audited as `merchant.export`, every time.',
    permission: { token: 'none', role: 'admin', action: auditAction('merchant.export') },
    response: String,
    responseType: 'text/csv',
    responseDescription: 'The table, with a header.',
    responseExample: 'id,name,hidden\n12,Netflix,false\n',
    errors: [WRONG_ENVIRONMENT],
  })
  export(@CurrentActor() actor: DashboardActor, @Query() query: MerchantsQuery): Promise<StreamableFile> {
    return this.merchants.export(actor, query.environment);
  }

  @Post('merchants/:id/hide')
  @DashboardOperation({
    operationId: 'hideMerchant',
    summary: 'Hide a merchant',
    description:
      `${MEANING} For admins and owners. Use it for a merchant that your users shall not be offered. ` +
      `Audited as \`merchant.hide\`, once.`,
    permission: { token: 'none', role: 'admin', action: auditAction('merchant.hide') },
    pathParameters: ID,
    body: ChangeMerchantVisibilityRequest,
    response: MerchantResponse,
    responseDescription: 'The merchant is hidden.',
    responseExample: { ...EXAMPLE_MERCHANT, hidden: true },
    errors: [WRONG_ENVIRONMENT, MERCHANT_NOT_FOUND],
  })
  hide(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: ChangeMerchantVisibilityRequest,
  ): Promise<MerchantResponse> {
    return this.merchants.hide(actor, id, request.environment);
  }

  @Post('merchants/:id/activate')
  @DashboardOperation({
    operationId: 'activateMerchant',
    summary: 'Show a merchant again',
    description:
      `Takes back that a merchant is hidden: your users are offered it again. ${MEANING} For admins and ` +
      `owners. Audited as \`merchant.activate\`, once.`,
    permission: { token: 'none', role: 'admin', action: auditAction('merchant.activate') },
    pathParameters: ID,
    body: ChangeMerchantVisibilityRequest,
    response: MerchantResponse,
    responseDescription: 'The merchant is to be seen.',
    responseExample: EXAMPLE_MERCHANT,
    errors: [WRONG_ENVIRONMENT, MERCHANT_NOT_FOUND],
  })
  activate(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: ChangeMerchantVisibilityRequest,
  ): Promise<MerchantResponse> {
    return this.merchants.activate(actor, id, request.environment);
  }
}
