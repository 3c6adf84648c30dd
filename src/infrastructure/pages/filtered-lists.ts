import { Injectable, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { DashboardPermission } from '../auth/index.js';
import { INVALID_FIELD } from '../errors/index.js';
import { environmentOf, RouteTable } from '../http/index.js';
import { validated } from '../validation/index.js';
import { filtersOf } from './page-input.js';
import { ZONE_PARAMETER } from './time-zones.js';

/** Metadata of a route: the operation that its page shows or performs. */
export const PAGE_PERMISSION = 'page permission';
/** Metadata of a route: the class of the query, if the page is a list whose filters users can save. */
export const LIST_QUERY = 'list query';

/** The page of a list whose filters users can save. */
export interface FilteredList {
  readonly path: string;
  /** The operation whose permission the page requires. */
  readonly permission: DashboardPermission;
  readonly query: Type<object>;
}

/** The position in a list, and what the path of its page says. */
const NOT_SAVED = ['cursor', 'next_cursor', 'limit', 'environment'];

/** The lists whose filters users can save. */
@Injectable()
export class FilteredLists {
  private lists: ReadonlyMap<string, FilteredList> | undefined;

  constructor(
    private readonly routes: RouteTable,
    private readonly reflector: Reflector,
  ) {}

  at(path: string): FilteredList | undefined {
    this.lists ??= new Map(
      this.routes.served.flatMap(({ path, handler }) => {
        const query = this.reflector.get<Type<object> | undefined>(LIST_QUERY, handler);
        const permission = this.reflector.get<DashboardPermission>(PAGE_PERMISSION, handler);
        return query ? [[path, { path, permission, query }] as const] : [];
      }),
    );
    return this.lists.get(path);
  }

  /**
   * Returns the parameters of a list's address that are filters of the list. Relative periods and local times stay as they are.
   *
   * @throws ApiError INVALID_FIELD if the list does not accept them
   */
  filtersIn({ path, query }: FilteredList, address: URLSearchParams): Record<string, string> {
    if (new Set(address.keys()).size < address.size) throw INVALID_FIELD.error('A filter is repeated.');
    const values = filtersOf(Object.fromEntries(address));
    if (Object.keys(values).length === 0) return {};
    const known = validated(query, { ...values, environment: environmentOf(path) });
    const isFilter = (name: string): boolean => Object.hasOwn(known, name) && !NOT_SAVED.includes(name);
    const filters = [...address].filter(([name, value]) => value !== '' && isFilter(name));
    const zone = filters.some(([name]) => name === 'start' || name === 'end') && address.get(ZONE_PARAMETER);
    return Object.fromEntries(zone ? [...filters, [ZONE_PARAMETER, zone]] : filters);
  }
}
