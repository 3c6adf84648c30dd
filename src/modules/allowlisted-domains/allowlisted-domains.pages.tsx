import type { VNode } from 'preact';
import {
  Allowed,
  Badge,
  ButtonLink,
  CodeBlock,
  confirmationPage,
  Done,
  EmptyState,
  Form,
  FormProblem,
  RelativeTime,
  Table,
  TextField,
  type Page,
  SubmitButton,
} from '../../infrastructure/pages/index.js';
import { DAY } from '../../infrastructure/time/index.js';
import type { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { proofRecord } from './allowlisted-domains.dto.js';
import { PROOF_GRACE, PROOF_LABEL } from './domain-proofs.service.js';

export const DOMAINS_PATH = '/dashboard/allowed-domains';
const DOMAINS = { title: 'Allowed domains', path: DOMAINS_PATH };

export function domainsPage(domains: readonly AllowlistedDomain[]): Page {
  return {
    title: DOMAINS.title,
    actions: domains.length === 0 ? null : <AddButton />,
    content: (
      <>
        <Done
          messages={{
            added: 'The domain was added.',
            proved: 'The domain is proved. You can use single sign-on with its email addresses.',
            removed: 'The domain was removed.',
          }}
        />
        {domains.length === 0 ? (
          <EmptyState title="All email domains are allowed">
            <p>
              Add a domain to allow only invitations of email addresses in the domains that you list here.
            </p>
            <AddButton />
          </EmptyState>
        ) : (
          <>
            <p>Only email addresses in these domains can be invited. A subdomain needs its own entry.</p>
            <Table
              caption="Allowed domains"
              rows={domains}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Domain', kind: 'main', cell: ({ domain }) => domain },
                {
                  title: 'Ownership',
                  kind: 'text',
                  cell: ({ id, domain, provedAt }) =>
                    provedAt ? (
                      <Badge tone="good">Proved</Badge>
                    ) : (
                      <Allowed operation="createAllowlistedDomain" otherwise="Not proved">
                        <ButtonLink to={proofPath(id)} kind="second" of={domain}>
                          Prove
                        </ButtonLink>
                      </Allowed>
                    ),
                },
                {
                  title: 'Added',
                  kind: 'time',
                  cell: ({ createdAt }) => <RelativeTime time={createdAt} />,
                },
                {
                  title: 'Actions',
                  kind: 'buttons',
                  cell: ({ id, domain }) => (
                    <Allowed operation="deleteAllowlistedDomain">
                      <ButtonLink to={`${DOMAINS_PATH}/${id}/remove`} kind="danger" of={domain}>
                        Remove
                      </ButtonLink>
                    </Allowed>
                  ),
                },
              ]}
            />
          </>
        )}
      </>
    ),
  };
}

function AddButton(): VNode {
  return (
    <Allowed operation="createAllowlistedDomain">
      <ButtonLink to={`${DOMAINS_PATH}/new`}>Add domain</ButtonLink>
    </Allowed>
  );
}

export function newDomainPage(): Page {
  return {
    title: 'Add a domain',
    parent: DOMAINS,
    content: (
      <Form action={`${DOMAINS_PATH}/new`}>
        <TextField
          name="domain"
          label="Domain"
          hint="Such as example.com, without its subdomains"
          showsProblem
        />
        <SubmitButton>Add domain</SubmitButton>
      </Form>
    ),
  };
}

function proofPath(id: string): string {
  return `${DOMAINS_PATH}/${id}/proof`;
}

export function proofPage({ id, domain }: AllowlistedDomain): Page {
  return {
    title: `Prove that ${domain} is yours`,
    parent: DOMAINS,
    content: (
      <>
        <FormProblem />
        <p>Single sign-on requires a proved domain. Add this TXT record where you manage the domain’s DNS:</p>
        <CodeBlock title="Name" code={`${PROOF_LABEL}.${domain}`} />
        <CodeBlock title="Content" code={proofRecord(id)} />
        <p>
          Keep the record: it is checked every day, and single sign-on stops for the domain when the record
          has been missing for {PROOF_GRACE / DAY} days. A new record can take an hour to appear.
        </p>
        <Form action={proofPath(id)}>
          <button>Check the record now</button>
        </Form>
      </>
    ),
  };
}

export function removeDomainPage({ id, domain }: AllowlistedDomain): Page {
  return confirmationPage({
    title: `Remove ${domain}?`,
    parent: DOMAINS,
    action: `${DOMAINS_PATH}/${id}/remove`,
    button: 'Remove domain',
    children: (
      <p>
        Email addresses in this domain can no longer be invited or use single sign-on. Users who were invited
        keep their access. If you remove the last domain, all domains are allowed.
      </p>
    ),
  });
}
