import { Controller, Get, Param, Post, Query, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardFile,
  DashboardPage,
  FormBody,
  inEachEnvironment,
  PageEnvironment,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { matchKeys } from './match-key.js';
import { MERCHANT_ID } from './merchant-catalog.service.js';
import { listPath, merchantsPage } from './merchants.pages.js';
import { MerchantsService } from './merchants.service.js';

const MERCHANTS_PER_PAGE = 50;

@Controller(inEachEnvironment('merchants'))
export class MerchantsPagesController {
  constructor(private readonly merchants: MerchantsService) {}

  /** @param query the filters `name` and `status`, and the ID of the last merchant before this page as `cursor` */
  @Get()
  @DashboardPage('listMerchants')
  async list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query() { name, status, cursor }: Readonly<Record<string, unknown>>,
  ): Promise<PageResponse> {
    const filters = {
      matchKeys: typeof name === 'string' && name.trim() ? matchKeys(name) : undefined,
      hidden: status === 'hidden' ? true : status === 'shown' ? false : undefined,
      after: typeof cursor === 'string' && MERCHANT_ID.test(cursor) ? Number(cursor) : undefined,
    };
    const merchants = await this.merchants.page(actor, environment, filters, MERCHANTS_PER_PAGE + 1);
    const shown = merchants.slice(0, MERCHANTS_PER_PAGE);
    const last = merchants.length > MERCHANTS_PER_PAGE ? shown.at(-1) : undefined;
    return merchantsPage(environment, shown, last ? String(last.id) : null);
  }

  @Get('export')
  @DashboardFile('exportMerchants')
  export(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
  ): Promise<StreamableFile> {
    return this.merchants.export(actor, environment);
  }

  @Post(':id/hide')
  @DashboardAction('hideMerchant')
  async hide(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const merchant = await this.merchants.setHidden(actor, id, environment, true);
    return { redirectTo: listPath(environment, form, 'hidden', merchant) };
  }

  @Post(':id/activate')
  @DashboardAction('activateMerchant')
  async activate(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    const merchant = await this.merchants.setHidden(actor, id, environment, false);
    return { redirectTo: listPath(environment, form, 'shown', merchant) };
  }
}
