import { Controller, Inject } from '@nestjs/common';
import {
  ButtonLink,
  Filter,
  inDigits,
  inEachEnvironment,
  ListPage,
  UserLink,
  type ListDescription,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { CUSTOMER_PERMISSIONS } from './customers.capability.js';
import { ListCustomersQuery } from './customers.dto.js';
import { CustomersService, type CustomerRow } from './customers.service.js';

@Controller(inEachEnvironment('customers'))
export class CustomersPage extends ListPage(CUSTOMER_PERMISSIONS.listCustomers, ListCustomersQuery) {
  @Inject() private readonly customers!: CustomersService;

  describe(visit: PageVisit): ListDescription<CustomerRow, ListCustomersQuery> {
    return {
      title: 'Customers',
      about:
        'Most recently active first, failures of 7 days. The list is at most a minute behind. ' +
        'Customers who become active move to its first page.',
      filters: <Filter name="search" label="Part of an identifier" type="search" />,
      apply: 'Find',
      rows: (query, limit) => this.customers.page(visit, query, limit),
      keyOf: ({ externalUserId }) => externalUserId,
      columns: [
        { title: 'Customer', kind: 'main', cell: ({ externalUserId: user }) => <UserLink user={user} /> },
        { title: 'Last activity', kind: 'time', cell: ({ lastSeenAt }) => lastSeenAt },
        { title: 'Accounts', kind: 'number', isOnDeskOnly: true, cell: ({ accounts }) => inDigits(accounts) },
        { title: 'Agents', kind: 'number', isOnDeskOnly: true, cell: ({ agents }) => inDigits(agents) },
        { title: 'Failures', kind: 'number', cell: ({ failures }) => inDigits(failures) },
      ],
      empty: visit.query['search']
        ? {
            title: 'No customer has an identifier that contains this text',
            text: 'Customers appear within a minute of their first request. They leave the list a year after their last one.',
          }
        : {
            title: 'No customers yet',
            text: (
              <>
                <p>
                  When a request of your programs names one of your users, the user appears here within a
                  minute.
                </p>
                <ButtonLink to="/docs/quickstart">Read the quickstart</ButtonLink>
              </>
            ),
          },
    };
  }
}
