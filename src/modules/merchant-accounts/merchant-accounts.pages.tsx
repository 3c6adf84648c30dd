import { permissionOf } from '../../infrastructure/auth/index.js';
import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import {
  Badge,
  dashboardPath,
  EraseButton,
  headingOfUser,
  inEachEnvironment,
  Link,
  ListPage,
  pathWith,
  SessionLink,
  UserField,
  type Column,
  type ListDescription,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { ListMerchantAccountsQuery, type MerchantAccountResponse } from './merchant-accounts.dto.js';
import { MerchantAccountsService } from './merchant-accounts.service.js';
import { MERCHANT_ACCOUNT_PERMISSIONS } from './merchant-accounts.capability.js';

const STATES = { connected: ['good', 'Connected'], disconnected: ['warn', 'Disconnected'] } as const;

@Controller(inEachEnvironment('merchant-accounts'))
export class MerchantAccountsPage extends ListPage(
  MERCHANT_ACCOUNT_PERMISSIONS.listMerchantAccounts,
  ListMerchantAccountsQuery,
) {
  @Inject() private readonly accounts!: MerchantAccountsService;

  describe(visit: PageVisit): ListDescription<MerchantAccountResponse, ListMerchantAccountsQuery> {
    const { actor, environment, query } = visit;
    const user = { external_user_id: String(query['external_user_id']), period: '7d' };
    return {
      ...headingOfUser(
        visit,
        'Merchant accounts',
        'Look up a customer to see their accounts, and whether they must sign in again.',
      ),
      filters: <UserField />,
      requires: 'external_user_id',
      actionsOfChosen: (
        <EraseButton user={user.external_user_id} permission={permissionOf('eraseExternalUser')} />
      ),
      apply: 'Show accounts',
      rows: (filters) => this.accounts.list(actor, filters),
      keyOf: ({ merchant }) => merchant.id,
      caption: 'Merchant accounts of the user',
      columns: ACCOUNT_COLUMNS,
      empty: {
        title: 'This customer has no merchant accounts',
        text: (
          <>
            <p>
              Accounts appear here once the customer signs in to a merchant in the {environment} environment.
            </p>
            {environment === 'development' ? (
              <Link to="/docs/sandbox">Link an account in the sandbox</Link>
            ) : null}
          </>
        ),
      },
      after: (
        <Link to={pathWith(dashboardPath(environment, 'request-logs'), user, {})}>
          Request log of this customer
        </Link>
      ),
    };
  }
}

export const ACCOUNT_COLUMNS: readonly Column<MerchantAccountResponse>[] = [
  { title: 'Merchant', kind: 'main', cell: ({ merchant }) => merchant.name },
  { title: 'State', kind: 'state', cell: ({ state }) => <State state={state} /> },
  { title: 'Since', kind: 'time', cell: ({ since }) => since },
  {
    title: 'Session ID',
    kind: 'id',
    isOnDeskOnly: true,
    cell: ({ session_id: id, since }) => (id === null ? 'Unknown' : <SessionLink id={id} time={since} />),
  },
];

function State({ state }: Pick<MerchantAccountResponse, 'state'>): VNode {
  const [tone, label] = STATES[state];
  return <Badge tone={tone}>{label}</Badge>;
}
