import { Injectable } from '@nestjs/common';
import { AccessibleClients, type DashboardScope } from '../../infrastructure/auth/index.js';
import { CursorCodec, type CursorScope } from '../../infrastructure/crypto/index.js';
import { longLists } from '../../infrastructure/database/index.js';
import { cutToPage } from '../../infrastructure/paging/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AgentConnectionsRepository } from '../agent-authorization/index.js';
import { MerchantAccountsRepository } from '../merchant-accounts/index.js';
import { CustomersRepository, type ListedCustomer } from './customers.repository.js';
import type { ListCustomersQuery } from './customers.dto.js';

export interface CustomerRow extends ListedCustomer {
  /** Merchant accounts that are connected. */
  readonly accounts: number;
  /** Agents that are connected. */
  readonly agents: number;
}

/** Lists the users of an organization. */
@Injectable()
export class CustomersService {
  constructor(
    private readonly repository: CustomersRepository,
    private readonly accounts: MerchantAccountsRepository,
    private readonly agents: AgentConnectionsRepository,
    private readonly clients: AccessibleClients,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns a page of the users whose identifiers contain the text, the last active ones first.
   *
   * @throws ApiError INVALID_CURSOR_FORMAT
   */
  async page(
    { actor, environment }: DashboardScope,
    { search = '', cursor }: ListCustomersQuery,
    limit: number,
  ): Promise<{ data: readonly CustomerRow[]; next_cursor: string | null }> {
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const scope: CursorScope = ['customers', clientId, search];
    const [time, id] = cursor === undefined ? [] : this.cursors.decode(cursor, scope);
    const before =
      time === undefined ? {} : { before: { lastSeenAt: new Date(time), externalUserId: String(id) } };
    const now = this.clock.now();
    const found = await longLists.run(clientId, () =>
      this.repository.newest(clientId, search, { ...before, limit: limit + 1, now }),
    );
    const { entries, last } = cutToPage(found, limit);
    const users = entries.map(({ externalUserId }) => externalUserId);
    const [accounts, agents] = [
      await this.accounts.countsOf(clientId, users),
      await this.agents.countsOf(clientId, users, now),
    ];
    return {
      data: entries.map((entry) => ({
        ...entry,
        accounts: accounts.get(entry.externalUserId) ?? 0,
        agents: agents.get(entry.externalUserId) ?? 0,
      })),
      next_cursor: last
        ? this.cursors.encode([last.lastSeenAt.toISOString(), last.externalUserId], scope)
        : null,
    };
  }
}
