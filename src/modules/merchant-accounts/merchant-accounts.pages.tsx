import type { VNode } from 'preact';
import {
  Badge,
  dashboardPath,
  EmptyState,
  FilterForm,
  Pagination,
  pathWith,
  Problem,
  RelativeTime,
  Results,
  Table,
  TextField,
  usePage,
  type Page,
} from '../../infrastructure/pages/index.js';
import type { MerchantAccountPage, MerchantAccountResponse } from './merchant-accounts.dto.js';

interface Lookup {
  /** Undefined if the page does not name a user, or not a valid one. */
  readonly found?: MerchantAccountPage;
  readonly problem?: string;
}

export function merchantAccountsPage({ found, problem }: Lookup): Page {
  return {
    title: 'Merchant accounts',
    content: (
      <>
        <p>Look up a user to see their accounts at merchants, and whether they must sign in again.</p>
        <UserForm />
        <Results>
          <Problem message={problem} />
          {found ? <Accounts {...found} /> : null}
        </Results>
      </>
    ),
  };
}

function UserForm(): VNode {
  const { query } = usePage();
  return (
    <FilterForm apply="Show accounts" clear="Clear">
      <TextField
        name="external_user_id"
        label="User"
        hint="Your external_user_id"
        value={query['external_user_id']}
      />
    </FilterForm>
  );
}

function Accounts({ data, next_cursor }: MerchantAccountPage): VNode {
  const { environment } = usePage();
  return (
    <>
      {data.length === 0 ? (
        <EmptyState title="This user has no merchant accounts">
          <p>Accounts appear here once the user signs in to a merchant in the {environment} environment.</p>
          {environment === 'development' ? (
            <p>
              <a href="/docs/sandbox">Link an account in the sandbox</a>
            </p>
          ) : null}
        </EmptyState>
      ) : (
        <AccountTable accounts={data} />
      )}
      <Pagination nextCursor={next_cursor} />
      <RequestLogLink />
    </>
  );
}

function AccountTable({ accounts }: { readonly accounts: readonly MerchantAccountResponse[] }): VNode {
  return (
    <Table
      caption="Merchant accounts of the user"
      rows={accounts}
      keyOf={({ merchant }) => merchant.id}
      columns={[
        { title: 'Merchant', cell: ({ merchant }) => merchant.name },
        {
          title: 'State',
          cell: ({ state }) =>
            state === 'connected' ? (
              <Badge tone="good">Connected</Badge>
            ) : (
              <Badge tone="warn">Disconnected</Badge>
            ),
          isShort: true,
        },
        { title: 'Since', cell: ({ since }) => <RelativeTime time={since} /> },
        { title: 'Session ID', cell: ({ session_id }) => session_id ?? 'Unknown' },
      ]}
    />
  );
}

function RequestLogLink(): VNode {
  const { environment, query } = usePage();
  const { external_user_id = '' } = query;
  return (
    <p>
      <a href={pathWith(dashboardPath(environment, 'request-logs'), { external_user_id }, { period: '7d' })}>
        Request log of this user
      </a>
    </p>
  );
}
