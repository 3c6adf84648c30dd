import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import {
  AccessibleClients,
  INSUFFICIENT_ROLE,
  mayPerform,
  type DashboardActor,
} from '../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { KeyedQueue } from '../../infrastructure/queues/index.js';
import { INVALID_FIELD, NOT_FOUND } from '../../infrastructure/errors/index.js';
import { environmentOf } from '../../infrastructure/http/index.js';
import { FilteredLists, type SavedFilters } from '../../infrastructure/pages/index.js';
import { SavedFilter } from './saved-filter.entity.js';

/** How many saved filters a user can have for one list. */
export const MAX_SAVED_FILTERS = 20;
/** Characters of an address. */
export const MAX_FILTERS_LENGTH = 2_048;

export const TOO_MANY = `You have ${MAX_SAVED_FILTERS} saved filters for this list, which is the maximum. Delete some before you save others.`;
export const TOO_LONG = `The filters are too long to save. Their part of the address must not have more than ${MAX_FILTERS_LENGTH} characters.`;
export const NOTHING_TO_DELETE = 'Select the saved filters that you want to delete.';
export const NOTHING_TO_SAVE = 'The list has no filters now. Apply the filters first, then save them.';

/** The page of a list with filters, as its address says. */
export interface ListAddress {
  readonly list: string;
  readonly filters: URLSearchParams;
}

/** A personal choice, like the time zone: it is not recorded in the audit log of the organization. */
@Injectable()
export class SavedFiltersService implements SavedFilters {
  private readonly additions = new KeyedQueue(1);

  constructor(
    private readonly transaction: Transaction,
    private readonly lists: FilteredLists,
    private readonly clients: AccessibleClients,
  ) {}

  of(userId: string, list: string): Promise<SavedFilter[]> {
    return this.transaction.manager.find(SavedFilter, { where: { userId, list }, order: { name: 'ASC' } });
  }

  /** Like `of()`. @throws ApiError NOT_FOUND if no list has this path */
  in(userId: string, list: string): Promise<SavedFilter[]> {
    if (!this.lists.at(list)) throw NOT_FOUND.error();
    return this.of(userId, list);
  }

  /** @throws ApiError NOT_FOUND, also for the filters of another user */
  async get(userId: string, id: string): Promise<SavedFilter> {
    return NOT_FOUND.requireFound(await this.transaction.findById(SavedFilter, { userId, id }));
  }

  /**
   * Saves the filters of a list. Those that have the name already are replaced.
   *
   * @returns the filters, and whether they replaced others
   * @throws ApiError INVALID_FIELD, NOT_FOUND or INSUFFICIENT_ROLE
   */
  async save(
    actor: DashboardActor,
    name: string,
    address: ListAddress,
  ): Promise<{ filters: SavedFilter['filters']; isReplaced: boolean }> {
    const list = NOT_FOUND.requireFound(this.lists.at(address.list));
    if (!mayPerform(actor, list.permission)) throw INSUFFICIENT_ROLE.error();
    const filters = this.lists.filtersIn(list, address.filters);
    const { length } = String(new URLSearchParams(filters));
    if (length === 0) throw INVALID_FIELD.error(NOTHING_TO_SAVE);
    if (length > MAX_FILTERS_LENGTH) throw INVALID_FIELD.error(TOO_LONG);
    const environment = environmentOf(list.path);
    const client = environment && (await this.clients.forEnvironment(actor, environment));
    const { userId } = actor;
    const filter = { userId, clientId: client?.clientId ?? null, list: list.path, name, filters };
    return { filters, isReplaced: await this.additions.run(userId, () => this.store(filter)) };
  }

  /** Ignores IDs of other users' filters. @throws ApiError NOT_FOUND if no list has this path, or INVALID_FIELD */
  async remove(userId: string, list: string, ids: readonly string[]): Promise<void> {
    const own = (await this.in(userId, list)).map(({ id }) => id).filter((id) => ids.includes(id));
    if (own.length === 0) throw INVALID_FIELD.error(NOTHING_TO_DELETE);
    await this.transaction.manager.delete(SavedFilter, { userId, id: In(own) });
  }

  /** @returns whether filters of this name were replaced */
  @Transactional()
  protected async store(filter: Omit<SavedFilter, 'id'>): Promise<boolean> {
    const { userId, list } = filter;
    await this.transaction.lock(`saved-filters ${userId} ${list}`);
    const saved = await this.of(userId, list);
    const same = saved.find(({ name }) => name === filter.name);
    if (!same && saved.length >= MAX_SAVED_FILTERS) throw INVALID_FIELD.error(TOO_MANY);
    await this.transaction.manager.upsert(SavedFilter, { ...filter, id: same?.id ?? randomUUID() }, ['id']);
    return same !== undefined;
  }
}
