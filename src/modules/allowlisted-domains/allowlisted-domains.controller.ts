import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { AddDomainRequest, AllowlistedDomainResponse } from './allowlisted-domains.dto.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { LIST_DOMAINS, ADD_DOMAIN, REMOVE_DOMAIN } from './allowlisted-domains.docs.js';

@Topic('Allowlisted domains', 'Email domains from which users can be invited. Requires a login.')
@Controller()
export class AllowlistedDomainsController {
  constructor(private readonly domains: AllowlistedDomainsService) {}

  @Get('allowlisted-domains')
  @DashboardOperation(LIST_DOMAINS)
  list(@CurrentActor() actor: DashboardActor): Promise<AllowlistedDomainResponse[]> {
    return this.domains.list(actor.organizationId);
  }

  @Post('allowlisted-domains/create')
  @DashboardOperation(ADD_DOMAIN)
  add(
    @CurrentActor() actor: DashboardActor,
    @Body() request: AddDomainRequest,
  ): Promise<AllowlistedDomainResponse> {
    return this.domains.add(actor, request.domain);
  }

  @Delete('allowlisted-domains/:id')
  @DashboardOperation(REMOVE_DOMAIN)
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<AllowlistedDomainResponse> {
    return this.domains.remove(actor, id);
  }
}
