import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import { requestFrom, submitted, type PageResponse } from '../../infrastructure/pages/index.js';
import { ALLOWLISTED_DOMAIN_NOT_FOUND } from './allowlisted-domain-errors.js';
import { AddDomainRequest } from './allowlisted-domains.dto.js';
import { domainsPage, DOMAINS_PATH, newDomainPage, removeDomainPage } from './allowlisted-domains.pages.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';

/** The pages about allowlisted domains. */
@Injectable()
export class AllowlistedDomainsPagesService {
  constructor(private readonly domains: AllowlistedDomainsService) {}

  async list({ organizationId }: DashboardActor): Promise<PageResponse> {
    return domainsPage(await this.domains.list(organizationId));
  }

  add(actor: DashboardActor, form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        await this.domains.add(actor, requestFrom(AddDomainRequest, form).domain);
        return { redirectTo: `${DOMAINS_PATH}?done=added` };
      },
      (problem) => newDomainPage(form.get('domain'), problem),
    );
  }

  async startRemoving({ organizationId }: DashboardActor, id: string): Promise<PageResponse> {
    const domain = (await this.domains.list(organizationId)).find((each) => each.id === id);
    if (!domain) throw ALLOWLISTED_DOMAIN_NOT_FOUND.error();
    return removeDomainPage(domain);
  }

  async remove(actor: DashboardActor, id: string): Promise<PageResponse> {
    await this.domains.remove(actor, id);
    return { redirectTo: `${DOMAINS_PATH}?done=removed` };
  }
}
