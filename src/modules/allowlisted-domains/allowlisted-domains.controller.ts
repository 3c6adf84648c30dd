import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditAction } from '../audit-logs/index.js';
import {
  ALLOWLISTED_DOMAIN_NOT_FOUND,
  DOMAIN_TAKEN,
  MAX_DOMAINS,
  TOO_MANY_DOMAINS,
} from './allowlisted-domain-errors.js';
import { AddDomainRequest, AllowlistedDomainResponse, EXAMPLE_DOMAIN } from './allowlisted-domains.dto.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';

@Topic('Allowlisted domains', 'Where people may be invited from. By login alone.')
@Controller()
export class AllowlistedDomainsController {
  constructor(private readonly domains: AllowlistedDomainsService) {}

  @Get('allowlisted-domains')
  @DashboardOperation({
    operationId: 'listAllowlistedDomains',
    summary: 'List allowlisted domains',
    description:
      'The domains that people may be invited from, in the order of the alphabet. Use it to see whom you ' +
      'can invite. While there are none, people of ' +
      `every domain may be invited. An organization has at most ${MAX_DOMAINS}. For admins and owners.`,
    permission: { token: 'none', role: 'admin' },
    response: [AllowlistedDomainResponse],
    responseDescription: 'All domains of the allowlist.',
    responseExample: [EXAMPLE_DOMAIN],
    errors: [],
  })
  list(@CurrentActor() actor: DashboardActor): Promise<AllowlistedDomainResponse[]> {
    return this.domains.list(actor.organizationId);
  }

  @Post('allowlisted-domains/create')
  @DashboardOperation({
    operationId: 'createAllowlistedDomain',
    summary: 'Add a domain to the allowlist',
    description:
      'From now on only people whose e-mail address belongs to a domain of the allowlist can be invited; ' +
      'those who are there already stay. Use it to keep invitations within your company. A domain does not ' +
      'include its subdomains: add each that you want. For admins and owners. Audited as `domain.add`.',
    permission: { token: 'none', role: 'admin', action: auditAction('domain.add') },
    body: AddDomainRequest,
    response: AllowlistedDomainResponse,
    responseDescription: 'The domain is on the allowlist.',
    responseExample: EXAMPLE_DOMAIN,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The domain field must be a domain name such as example.com.',
        DOMAIN_TAKEN,
        TOO_MANY_DOMAINS,
      ),
    ],
  })
  add(
    @CurrentActor() actor: DashboardActor,
    @JsonBody() request: AddDomainRequest,
  ): Promise<AllowlistedDomainResponse> {
    return this.domains.add(actor, request.domain);
  }

  @Delete('allowlisted-domains/:id')
  @DashboardOperation({
    operationId: 'deleteAllowlistedDomain',
    summary: 'Remove a domain from the allowlist',
    description:
      'People of the domain who are there already stay. Use it when a domain is not yours any more. When ' +
      'the last domain is removed, people of every domain may be invited again. For admins and owners. ' +
      'Audited as `domain.remove`.',
    permission: { token: 'none', role: 'admin', action: auditAction('domain.remove') },
    pathParameters: { id: { description: 'The domain’s `id`.', example: EXAMPLE_DOMAIN.id } },
    response: AllowlistedDomainResponse,
    responseDescription: 'What was removed.',
    responseExample: EXAMPLE_DOMAIN,
    errors: [ALLOWLISTED_DOMAIN_NOT_FOUND],
  })
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<AllowlistedDomainResponse> {
    return this.domains.remove(actor, id);
  }
}
