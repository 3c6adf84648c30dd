import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  requestFrom,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { AddDomainRequest } from './allowlisted-domains.dto.js';
import { domainsPage, DOMAINS_PATH, newDomainPage, removeDomainPage } from './allowlisted-domains.pages.js';
import { ALLOWLISTED_DOMAIN_NOT_FOUND, AllowlistedDomainsService } from './allowlisted-domains.service.js';

@Controller('dashboard/allowed-domains')
export class AllowlistedDomainsPagesController {
  constructor(private readonly domains: AllowlistedDomainsService) {}

  @Get()
  @DashboardPage('listAllowlistedDomains')
  async list(@CurrentActor() { organizationId }: DashboardActor): Promise<PageResponse> {
    return domainsPage(await this.domains.list(organizationId));
  }

  @Get('new')
  @DashboardPage('createAllowlistedDomain')
  startAdding(): PageResponse {
    return newDomainPage();
  }

  @Post('new')
  @DashboardAction('createAllowlistedDomain')
  add(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(async () => {
      await this.domains.add(actor, requestFrom(AddDomainRequest, form).domain);
      return { redirectTo: `${DOMAINS_PATH}?done=added` };
    }, newDomainPage);
  }

  @Get(':id/remove')
  @DashboardPage('deleteAllowlistedDomain')
  async startRemoving(
    @CurrentActor() { organizationId }: DashboardActor,
    @Param('id') id: string,
  ): Promise<PageResponse> {
    const domain = (await this.domains.list(organizationId)).find((each) => each.id === id);
    if (!domain) throw ALLOWLISTED_DOMAIN_NOT_FOUND.error();
    return removeDomainPage(domain);
  }

  @Post(':id/remove')
  @DashboardAction('deleteAllowlistedDomain')
  async remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    await this.domains.remove(actor, id);
    return { redirectTo: `${DOMAINS_PATH}?done=removed` };
  }
}
