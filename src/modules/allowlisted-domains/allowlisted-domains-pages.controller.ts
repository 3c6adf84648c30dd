import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { AllowlistedDomainsPagesService } from './allowlisted-domains-pages.service.js';
import { newDomainPage } from './allowlisted-domains.pages.js';

@Controller('dashboard/allowed-domains')
export class AllowlistedDomainsPagesController {
  constructor(private readonly pages: AllowlistedDomainsPagesService) {}

  @Get()
  @DashboardPage('listAllowlistedDomains')
  list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return this.pages.list(actor);
  }

  @Get('new')
  @DashboardPage('createAllowlistedDomain')
  startAdding(): PageResponse {
    return newDomainPage();
  }

  @Post('new')
  @DashboardAction('createAllowlistedDomain')
  add(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return this.pages.add(actor, form);
  }

  @Get(':id/remove')
  @DashboardPage('deleteAllowlistedDomain')
  startRemoving(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.startRemoving(actor, id);
  }

  @Post(':id/remove')
  @DashboardAction('deleteAllowlistedDomain')
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return this.pages.remove(actor, id);
  }
}
