import { Controller, Get, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  DashboardPage,
  inEachEnvironment,
  PageEnvironment,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { MerchantAccountsPagesService } from './merchant-accounts-pages.service.js';

@Controller(inEachEnvironment('merchant-accounts'))
export class MerchantAccountsPagesController {
  constructor(private readonly pages: MerchantAccountsPagesService) {}

  @Get()
  @DashboardPage('listMerchantAccounts')
  list(
    @CurrentActor() actor: DashboardActor,
    @PageEnvironment() environment: PlatformEnvironment,
    @Query() query: Readonly<Record<string, string>>,
  ): Promise<PageResponse> {
    return this.pages.list(actor, environment, query);
  }
}
