import { Readable } from 'node:stream';
import { Controller, Get, Post, type StreamableFile } from '@nestjs/common';
import {
  DashboardAction,
  DashboardExport,
  DashboardPage,
  exportFile,
  inEachEnvironment,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { EnumField, TextField } from '../../infrastructure/validation/index.js';
import { matchKeys } from './match-key.js';
import { parseMerchantId } from './merchant-catalog.service.js';
import { listPath, merchantsPage } from './merchants.pages.js';
import { MerchantsService } from './merchants.service.js';

const MERCHANTS_PER_PAGE = 50;
const MERCHANT_VISIBILITY = enumeration(
  'MerchantVisibility',
  ['shown', 'hidden'],
  'Whether users see a merchant.',
);

/** The filters of the list. */
class MerchantsPageQuery {
  @TextField({ in: 'query', required: false, max: 256, description: 'A part of the name.', example: 'Net' })
  name?: string;

  @EnumField(MERCHANT_VISIBILITY, {
    in: 'query',
    required: false,
    description: 'Whether users see the merchant.',
    example: 'hidden',
  })
  status?: string;
}

@Controller(inEachEnvironment('merchants'))
export class MerchantsPagesController {
  constructor(private readonly merchants: MerchantsService) {}

  /** @param query the filters `name` and `status`, and the ID of the last merchant before this page as `cursor` */
  @Get()
  @DashboardPage('listMerchants', MerchantsPageQuery)
  async list(@Visit() { actor, environment, query }: PageVisit): Promise<PageResponse> {
    const { name, status, cursor } = query;
    const filters = {
      matchKeys: typeof name === 'string' && name.trim() ? matchKeys(name) : undefined,
      hidden: status === 'hidden' ? true : status === 'shown' ? false : undefined,
      after: typeof cursor === 'string' ? parseMerchantId(cursor) : undefined,
    };
    const scope = { organizationId: actor.organizationId, environment };
    const { entries, last } = await this.merchants.page(scope, filters, MERCHANTS_PER_PAGE);
    return merchantsPage(environment, entries, last ? String(last.id) : null);
  }

  @Get('export')
  @DashboardExport('exportMerchants')
  async export(@Visit() { actor, environment }: PageVisit): Promise<StreamableFile> {
    return exportFile({
      format: 'csv',
      name: `merchants-${environment}`,
      organizationName: actor.organizationName,
      columns: ['id', 'name', 'hidden'],
      rows: Readable.from(await this.merchants.list(actor, environment)),
    });
  }

  @Post(':id/hide')
  @DashboardAction('hideMerchant')
  hide(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    return this.setHidden(visit, true);
  }

  @Post(':id/activate')
  @DashboardAction('activateMerchant')
  show(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    return this.setHidden(visit, false);
  }

  private async setHidden(
    { actor, environment, params, form }: PageVisit<'id'>,
    hidden: boolean,
  ): Promise<PageResponse> {
    const merchant = await this.merchants.setHidden(actor, params.id, environment, hidden);
    return { redirectTo: listPath(environment, form, hidden ? 'hidden' : 'shown', merchant) };
  }
}
