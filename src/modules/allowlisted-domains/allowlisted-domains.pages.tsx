import { Controller, Inject } from '@nestjs/common';
import {
  actionColumn,
  Allowed,
  Badge,
  ButtonLink,
  CodeBlock,
  ConfirmPage,
  FormPage,
  ListPage,
  TextField,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { DAY } from '../../infrastructure/time/index.js';
import type { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { AddDomainRequest, proofRecord } from './allowlisted-domains.dto.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { DomainProofsService, PROOF_GRACE, PROOF_LABEL } from './domain-proofs.service.js';

const DOMAINS = { title: 'Allowed domains', path: '/dashboard/allowed-domains' };

@Controller('dashboard/allowed-domains')
class DomainsPage extends ListPage('listAllowlistedDomains') {
  @Inject() private readonly domains!: AllowlistedDomainsService;

  describe({ actor }: PageVisit): ListDescription<AllowlistedDomain> {
    return {
      title: DOMAINS.title,
      actions: (
        <ButtonLink operation="createAllowlistedDomain" to={`${DOMAINS.path}/new`}>
          Add domain
        </ButtonLink>
      ),
      messages: {
        added: 'The domain was added.',
        proved: 'The domain is proved. You can use single sign-on with its email addresses.',
        removed: 'The domain was removed.',
      },
      rows: async () => ({
        data: await this.domains.list(actor),
        above: <p>Only email addresses in these domains can be invited. A subdomain needs its own entry.</p>,
      }),
      columns: [
        { title: 'Domain', kind: 'main', cell: ({ domain }) => domain },
        {
          title: 'Ownership',
          kind: 'text',
          cell: ({ id, domain, provedAt }) =>
            provedAt ? (
              <Badge tone="good">Proved</Badge>
            ) : (
              <Allowed operation="createAllowlistedDomain" otherwise="Not proved">
                <ButtonLink to={`${DOMAINS.path}/${id}/proof`} kind="second" of={domain}>
                  Prove
                </ButtonLink>
              </Allowed>
            ),
        },
        { title: 'Added', kind: 'time', cell: ({ createdAt }) => createdAt },
        actionColumn({
          operation: 'deleteAllowlistedDomain',
          label: 'Remove',
          to: ({ id }) => `${DOMAINS.path}/${id}/remove`,
          of: ({ domain }) => domain,
        }),
      ],
      empty: {
        title: 'All email domains are allowed',
        text: 'Add a domain to allow only invitations of email addresses in the domains that you list here.',
      },
    };
  }
}

@Controller('dashboard/allowed-domains/new')
class NewDomainPage extends FormPage('createAllowlistedDomain', AddDomainRequest) {
  @Inject() private readonly domains!: AllowlistedDomainsService;

  /** @param visit.query `purpose=proof`: the domain is added in order to prove it */
  describe({ actor, query, form }: PageVisit): FormDescription<AddDomainRequest> {
    const purpose = form.get('purpose') ?? query['purpose'];
    return {
      title: 'Add a domain',
      parent: DOMAINS,
      fields: (
        <>
          {purpose === 'proof' ? <input type="hidden" name="purpose" value={purpose} /> : null}
          <TextField
            name="domain"
            label="Domain"
            hint="Such as example.com, without its subdomains"
            showsProblem
          />
        </>
      ),
      button: 'Add domain',
      perform: async ({ domain }) => {
        const id = await this.domains.add(actor, domain);
        return {
          redirectTo: purpose === 'proof' ? `${DOMAINS.path}/${id}/proof` : `${DOMAINS.path}?done=added`,
        };
      },
    };
  }
}

@Controller('dashboard/allowed-domains/:id/proof')
class ProofPage extends FormPage('createAllowlistedDomain') {
  @Inject() private readonly domains!: AllowlistedDomainsService;
  @Inject() private readonly proofs!: DomainProofsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<FormDescription> {
    const domain = await this.domains.get(actor, id);
    return {
      title: `Prove that ${domain.domain} is yours`,
      parent: DOMAINS,
      text: (
        <>
          <p>
            Single sign-on requires a proved domain. Add this TXT record where you manage the domain’s DNS:
          </p>
          <CodeBlock title="Name" code={`${PROOF_LABEL}.${domain.domain}`} />
          <CodeBlock title="Content" code={proofRecord(id)} />
          <p>
            Keep the record: it is checked every day, and single sign-on stops for the domain when the record
            has been missing for {PROOF_GRACE / DAY} days. A new record can take an hour to appear.
          </p>
        </>
      ),
      button: 'Check the record now',
      perform: () => this.proofs.check(actor, domain),
      next: `${DOMAINS.path}?done=proved`,
    };
  }
}

@Controller('dashboard/allowed-domains/:id/remove')
class RemoveDomainPage extends ConfirmPage('deleteAllowlistedDomain') {
  @Inject() private readonly domains!: AllowlistedDomainsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation> {
    const { domain } = await this.domains.get(actor, id);
    return {
      title: `Remove ${domain}?`,
      parent: DOMAINS,
      text: (
        <p>
          Email addresses in this domain can no longer be invited or use single sign-on. Users who were
          invited keep their access. If you remove the last domain, all domains are allowed.
        </p>
      ),
      button: 'Remove domain',
      perform: () => this.domains.remove(actor, id),
      next: `${DOMAINS.path}?done=removed`,
    };
  }
}

export const DOMAIN_PAGES = [DomainsPage, NewDomainPage, ProofPage, RemoveDomainPage];
