import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
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
import { DomainLogins } from './domain-logins.js';
import { DomainProofsService, PROOF_GRACE, PROOF_LABEL } from './domain-proofs.service.js';
import { DOMAIN_PERMISSIONS } from './allowlisted-domains.capability.js';

const DOMAINS = { title: 'Allowed domains', path: '/dashboard/allowed-domains' };

@Controller('dashboard/allowed-domains')
class DomainsPage extends ListPage(DOMAIN_PERMISSIONS.listAllowlistedDomains) {
  @Inject() private readonly domains!: AllowlistedDomainsService;

  describe({ actor }: PageVisit): ListDescription<AllowlistedDomain> {
    return {
      title: DOMAINS.title,
      actions: (
        <ButtonLink permission={DOMAIN_PERMISSIONS.createAllowlistedDomain} to={`${DOMAINS.path}/new`}>
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
          cell: ({ id, domain, provedAt, proofMissingSince }) =>
            provedAt ? (
              proofMissingSince ? (
                <Badge tone="warn">Record missing</Badge>
              ) : (
                <Badge tone="good">Proved</Badge>
              )
            ) : (
              <Allowed permission={DOMAIN_PERMISSIONS.createAllowlistedDomain} otherwise="Not proved">
                <ButtonLink to={`${DOMAINS.path}/${id}/proof`} kind="second" of={domain}>
                  Prove
                </ButtonLink>
              </Allowed>
            ),
        },
        { title: 'Added', kind: 'time', cell: ({ createdAt }) => createdAt },
        actionColumn({
          permission: DOMAIN_PERMISSIONS.deleteAllowlistedDomain,
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

/** The page of single sign-on, which builds on this module. */
const SET_UP_PATH = '/dashboard/single-sign-on';

const PURPOSES = ['proof', 'set_up'] as const;
/** Why a domain is added or proved: in order to prove it, or in the set-up of single sign-on. */
type Purpose = (typeof PURPOSES)[number] | 'none';

function purposeOf({ query, form }: PageVisit<string>): Purpose {
  const wanted = form.get('purpose') ?? query['purpose'];
  return PURPOSES.find((each) => each === wanted) ?? 'none';
}

/** The field with the purpose of a form about a domain. */
export function DomainPurpose({ purpose }: { readonly purpose: Purpose }): VNode | null {
  return purpose === 'none' ? null : <input type="hidden" name="purpose" value={purpose} />;
}

/** The DNS record that proves a domain. */
export function ProofRecord({ id, domain }: Pick<AllowlistedDomain, 'id' | 'domain'>): VNode {
  return (
    <>
      <CodeBlock title="Name" code={`${PROOF_LABEL}.${domain}`} />
      <CodeBlock title="Content" code={proofRecord(id)} />
    </>
  );
}

@Controller('dashboard/allowed-domains/new')
class NewDomainPage extends FormPage(DOMAIN_PERMISSIONS.createAllowlistedDomain, AddDomainRequest) {
  @Inject() private readonly domains!: AllowlistedDomainsService;

  /** @param visit.query `purpose=proof`: the domain is added in order to prove it */
  describe(visit: PageVisit): FormDescription<AddDomainRequest> {
    const purpose = purposeOf(visit);
    return {
      title: 'Add a domain',
      parent: DOMAINS,
      fields: (
        <>
          <DomainPurpose purpose={purpose} />
          <TextField name="domain" label="Domain" hint="Such as example.com, without its subdomains" />
        </>
      ),
      button: 'Add domain',
      perform: async ({ domain }) => {
        const id = await this.domains.add(visit.actor, domain);
        const proof = `${DOMAINS.path}/${id}/proof`;
        return { redirectTo: { proof, set_up: SET_UP_PATH, none: `${DOMAINS.path}?done=added` }[purpose] };
      },
    };
  }
}

@Controller('dashboard/allowed-domains/:id/proof')
class ProofPage extends FormPage(DOMAIN_PERMISSIONS.createAllowlistedDomain) {
  @Inject() private readonly domains!: AllowlistedDomainsService;
  @Inject() private readonly proofs!: DomainProofsService;
  @Inject() private readonly logins!: DomainLogins;

  async describe(visit: PageVisit<'id'>): Promise<FormDescription> {
    const { actor, params } = visit;
    const { id } = params;
    const purpose = purposeOf(visit);
    const domain = await this.domains.get(actor, id);
    return {
      fields: <DomainPurpose purpose={purpose} />,
      title: `Prove that ${domain.domain} is yours`,
      parent: DOMAINS,
      text: (
        <>
          <p>
            Single sign-on requires a proved domain. Add this TXT record where you manage the domain’s DNS:
          </p>
          <ProofRecord {...domain} />
          <p>
            Keep the record: it is checked every day, and single sign-on stops for the domain when the record
            has been missing for {PROOF_GRACE / DAY} days. Owners and admins get an email on the first day
            without the record. {await this.logins.withoutProof(actor.organizationId, domain.domain)}
          </p>
          <p>A new record can take an hour to appear.</p>
        </>
      ),
      button: 'Check the record now',
      perform: () => this.proofs.check(actor, domain),
      next: `${purpose === 'set_up' ? SET_UP_PATH : DOMAINS.path}?done=proved`,
    };
  }
}

@Controller('dashboard/allowed-domains/:id/remove')
class RemoveDomainPage extends ConfirmPage(DOMAIN_PERMISSIONS.deleteAllowlistedDomain) {
  @Inject() private readonly domains!: AllowlistedDomainsService;
  @Inject() private readonly logins!: DomainLogins;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation<AllowlistedDomain>> {
    const domain = await this.domains.get(actor, id);
    const effect = domain.provedAt ? await this.logins.withoutProof(actor.organizationId, domain.domain) : '';
    return {
      title: `Remove ${domain.domain}?`,
      parent: DOMAINS,
      subject: domain,
      shows: ({ provedAt }) => ({ 'Single sign-on': provedAt ? 'Domain is proved' : 'Domain is not proved' }),
      text: (
        <p>
          Email addresses in this domain can no longer be invited, and no longer lead to single sign-on.
          Sessions of users continue. {effect} If you remove the last domain, all domains are allowed.
        </p>
      ),
      button: 'Remove domain',
      perform: (_, check) => this.domains.remove(actor, id, check),
      next: `${DOMAINS.path}?done=removed`,
    };
  }
}

export const DOMAIN_PAGES = [DomainsPage, NewDomainPage, ProofPage, RemoveDomainPage];
