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
import { MerchantsPagesService } from './merchants-pages.service.js';
import { MerchantsService } from './merchants.service.js';

@Controller(inEachEnvironment('merchants'))
export class MerchantsPagesController {
  constructor(
    private readonly pages: MerchantsPagesService,
    private readonly merchants: MerchantsService,
  ) {}

  @Get()
  @DashboardPage('listMerchants')
  list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Promise<PageResponse> {
    return this.pages.list(actor, environment, query);
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
  hide(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.hide(actor, environment, id, form);
  }

  @Post(':id/activate')
  @DashboardAction('activateMerchant')
  activate(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Param('id') id: string,
    @FormBody() form: FormFields,
  ): Promise<PageResponse> {
    return this.pages.activate(actor, environment, id, form);
  }
}
