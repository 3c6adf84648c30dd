import type { VNode } from 'preact';
import {
  Allowed,
  ButtonLink,
  confirmationPage,
  Done,
  EmptyState,
  Form,
  RelativeTime,
  Table,
  TextField,
  type Page,
} from '../../infrastructure/pages/index.js';
import type { AllowlistedDomainResponse } from './allowlisted-domains.dto.js';

export const DOMAINS_PATH = '/dashboard/allowed-domains';
const DOMAINS = { title: 'Allowed domains', path: DOMAINS_PATH };

export function domainsPage(domains: readonly AllowlistedDomainResponse[]): Page {
  return {
    title: DOMAINS.title,
    actions: domains.length === 0 ? null : <AddButton />,
    content: (
      <>
        <Done messages={{ added: 'The domain was added.', removed: 'The domain was removed.' }} />
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
                { title: 'Domain', cell: ({ domain }) => domain },
                { title: 'Added', cell: ({ created_at }) => <RelativeTime time={created_at} /> },
                {
                  title: 'Actions',
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
        <button>Add domain</button>
      </Form>
    ),
  };
}

export function removeDomainPage({ id, domain }: AllowlistedDomainResponse): Page {
  return confirmationPage({
    title: `Remove ${domain}?`,
    parent: DOMAINS,
    action: `${DOMAINS_PATH}/${id}/remove`,
    button: 'Remove domain',
    children: (
      <p>
        Email addresses in this domain can no longer be invited. Users who were invited keep their access. If
        you remove the last domain, all domains are allowed.
      </p>
    ),
  });
}
