import type { VNode } from 'preact';
import {
  Badge,
  dashboardPath,
  EmptyState,
  FormProblem,
  Link,
  Pagination,
  pathWith,
  RelativeTime,
  Results,
  SessionLink,
  Table,
  usePage,
  UserForm,
  type Column,
  type Page,
} from '../../infrastructure/pages/index.js';
import type { MerchantAccountPage, MerchantAccountResponse } from './merchant-accounts.dto.js';

const STATES = { connected: ['good', 'Connected'], disconnected: ['warn', 'Disconnected'] } as const;

/** @param found undefined if the query contains no user, or an invalid one */
export function merchantAccountsPage(found?: MerchantAccountPage): Page {
  return {
    title: 'Merchant accounts',
    about: 'Look up a user to see their accounts, and whether they must sign in again.',
    content: (
      <>
        <UserForm apply="Show accounts" />
        <Results>
          <FormProblem />
          {found ? <Accounts {...found} /> : null}
        </Results>
      </>
    ),
  };
}

function Accounts({ data, next_cursor }: MerchantAccountPage): VNode {
  const { environment, query } = usePage();
  const { external_user_id = '' } = query;
  const log = pathWith(dashboardPath(environment, 'request-logs'), { external_user_id }, { period: '7d' });
  return (
    <>
      {data.length === 0 ? (
        <EmptyState title="This user has no merchant accounts">
          <p>Accounts appear here once the user signs in to a merchant in the {environment} environment.</p>
          {environment === 'development' ? (
            <Link to="/docs/sandbox">Link an account in the sandbox</Link>
          ) : null}
        </EmptyState>
      ) : (
        <Table
          caption="Merchant accounts of the user"
          rows={data}
          keyOf={({ merchant }) => merchant.id}
          columns={ACCOUNT_COLUMNS}
        />
      )}
      <Pagination nextCursor={next_cursor} />
      <Link to={log}>Request log of this user</Link>
    </>
  );
}

export const ACCOUNT_COLUMNS: readonly Column<MerchantAccountResponse>[] = [
  { title: 'Merchant', kind: 'main', cell: ({ merchant }) => merchant.name },
  { title: 'State', kind: 'status', cell: ({ state }) => <State state={state} /> },
  { title: 'Since', kind: 'time', cell: ({ since }) => <RelativeTime time={since} /> },
  {
    title: 'Session ID',
    kind: 'id',
    cell: ({ session_id: id }) => (id === null ? 'Unknown' : <SessionLink id={id} />),
  },
];

function State({ state }: Pick<MerchantAccountResponse, 'state'>): VNode {
  const [tone, label] = STATES[state];
  return <Badge tone={tone}>{label}</Badge>;
}
