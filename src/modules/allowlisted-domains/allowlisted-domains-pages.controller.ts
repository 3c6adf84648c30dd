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
import {
  domainsPage,
  DOMAINS_PATH,
  newDomainPage,
  proofPage,
  removeDomainPage,
} from './allowlisted-domains.pages.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { DomainProofsService } from './domain-proofs.service.js';

@Controller('dashboard/allowed-domains')
export class AllowlistedDomainsPagesController {
  constructor(
    private readonly domains: AllowlistedDomainsService,
    private readonly proofs: DomainProofsService,
  ) {}

  @Get()
  @DashboardPage('listAllowlistedDomains')
  async list(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    return domainsPage(await this.domains.list(actor));
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

  @Get(':id/proof')
  @DashboardPage('createAllowlistedDomain')
  async showProof(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return proofPage(await this.domains.get(actor, id));
  }

  @Post(':id/proof')
  @DashboardAction('createAllowlistedDomain')
  async checkProof(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    const domain = await this.domains.get(actor, id);
    return submitted(
      async () => {
        await this.proofs.check(actor, domain);
        return { redirectTo: `${DOMAINS_PATH}?done=proved` };
      },
      () => proofPage(domain),
    );
  }

  @Get(':id/remove')
  @DashboardPage('deleteAllowlistedDomain')
  async startRemoving(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    return removeDomainPage(await this.domains.get(actor, id));
  }

  @Post(':id/remove')
  @DashboardAction('deleteAllowlistedDomain')
  async remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<PageResponse> {
    await this.domains.remove(actor, id);
    return { redirectTo: `${DOMAINS_PATH}?done=removed` };
  }
}
