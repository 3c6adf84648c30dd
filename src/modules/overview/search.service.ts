import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { mayPerform, type DashboardActor, type DashboardScope } from '../../infrastructure/auth/index.js';
import { KeyedQueue } from '../../infrastructure/queues/index.js';
import { ApiError, unlessStatus } from '../../infrastructure/errors/index.js';
import { dashboardPath } from '../../infrastructure/http/index.js';
import { pathOfUser } from '../../infrastructure/pages/index.js';
import { CustomersService } from '../customers/index.js';
import { UserAdministrationService, USER_PERMISSIONS } from '../dashboard-users/index.js';
import { matchKeys, MerchantsService, MERCHANT_PERMISSIONS } from '../merchants/index.js';
import { RequestLogsService } from '../request-logs/index.js';
import { WebhookEndpointsService } from '../webhook-endpoints/index.js';
import { PublishedEventsService } from '../webhooks/index.js';

/** Something that a text names, and its page. */
export interface SearchResult {
  readonly kind: string;
  readonly title: string;
  readonly path: string;
}

export interface SearchResults {
  readonly results: readonly SearchResult[];
  /** Whether something may be missing, because the request log is too busy. */
  readonly isLogBusy: boolean;
}

/** Characters of a text: the longest identifier of a user. */
export const MAX_SEARCH_LENGTH = 256;
const MAX_RESULTS_OF_A_KIND = 10;
const ENTRY_ID = /^\d{1,15}$/;
/** Words without a digit are names. */
const REQUEST_ID = /^(?=.*\d)[\w-]{8,64}$/;
const MAX_WAITING = 4;
/** Read from the database, of which those with the text in their name are shown. */
const MAX_MERCHANTS = 50;

/** Finds what a text names, in one environment of the user's organization. Only looks up by indexes, and in lists that are short or cut off. */
@Injectable()
export class SearchService {
  /** One search of an organization at a time reads the log, so that typing leaves the organization's turns there to others. */
  private readonly searches = new KeyedQueue(1, { maxWaiting: MAX_WAITING });

  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: PublishedEventsService,
    private readonly users: UserAdministrationService,
    private readonly logs: RequestLogsService,
    private readonly customers: CustomersService,
    private readonly merchants: MerchantsService,
  ) {}

  /** @param isGone whether nobody waits for the results any more */
  async find(scope: DashboardScope, text: string, isGone: () => boolean): Promise<SearchResults> {
    const [inLog, ...others] = await Promise.all([
      this.inLog(scope, text, isGone),
      this.endpointsWith(scope, text),
      this.usersWith(scope.actor, text),
      this.merchantsWith(scope, text),
    ]);
    return { ...inLog, results: [inLog.results, ...others].flat() };
  }

  /** If the log is too busy, the search must still find the rest. */
  private async inLog(scope: DashboardScope, text: string, isGone: () => boolean): Promise<SearchResults> {
    const results: SearchResult[] = [];
    try {
      await this.searches.run(scope.actor.organizationId, async () => {
        if (!isGone()) results.push(...(await this.event(scope, text)));
        if (!isGone()) results.push(...(await this.externalUsers(scope, text)));
        if (!isGone()) results.push(...(await this.entries(scope, text)));
      });
    } catch (error) {
      if (error instanceof ApiError) return { results, isLogBusy: true };
      throw error;
    }
    return { results, isLogBusy: false };
  }

  private async event(scope: DashboardScope, id: string): Promise<SearchResult[]> {
    if (!isUUID(id)) return [];
    const event = await unlessStatus([404], () => this.events.get(scope, id));
    return event
      ? [{ kind: 'Event', title: event.name, path: dashboardPath(scope.environment, 'events', id) }]
      : [];
  }

  private async externalUsers(scope: DashboardScope, text: string): Promise<SearchResult[]> {
    // Identifiers differ in the case of letters, but most have only small ones.
    const users = new Set<string>();
    for (const prefix of new Set([text, text.toLowerCase()])) {
      const found = await this.logs.usersWith(scope, { prefix, limit: MAX_RESULTS_OF_A_KIND });
      for (const user of found) users.add(user);
    }
    // The list finds any part of an identifier, but is at most a minute behind the log.
    if (users.size < MAX_RESULTS_OF_A_KIND) {
      const { data } = await this.customers.page(scope, { search: text }, MAX_RESULTS_OF_A_KIND);
      for (const { externalUserId } of data) users.add(externalUserId);
    }
    return [...users].slice(0, MAX_RESULTS_OF_A_KIND).map((user) => ({
      kind: 'Customer',
      title: user,
      path: pathOfUser(scope.environment, user),
    }));
  }

  private async merchantsWith({ actor, environment }: DashboardScope, text: string): Promise<SearchResult[]> {
    if (!mayPerform(actor, MERCHANT_PERMISSIONS.listMerchants)) return [];
    const scope = { organizationId: actor.organizationId, environment };
    const filters = { matchKeys: matchKeys(text) };
    const { data } = await this.merchants.page(scope, filters, { limit: MAX_MERCHANTS });
    // The match keys also find other names, and words that meet: “sso” in “Williams Sonoma”.
    return data
      .filter(({ name }) => contains(text, name))
      .slice(0, MAX_RESULTS_OF_A_KIND)
      .map(({ name }) => ({
        kind: 'Merchant',
        title: name,
        path: `${dashboardPath(environment, 'merchants')}?${new URLSearchParams({ name })}`,
      }));
  }

  /** Finds an entry by its ID, and those of a session or a request. */
  private async entries(scope: DashboardScope, text: string): Promise<SearchResult[]> {
    const { actor, environment } = scope;
    const list = dashboardPath(environment, 'request-logs');
    const entry =
      ENTRY_ID.test(text) && (await unlessStatus([404], () => this.logs.get(actor, text, environment)));
    const found = entry ? [{ kind: 'Request log', title: `Entry ${text}`, path: `${list}/${text}` }] : [];
    const filters = [
      ...(isUUID(text) ? [['session_id', 'Entries of the session'] as const] : []),
      ...(REQUEST_ID.test(text) ? [['request_id', 'Entries of the request'] as const] : []),
    ];
    for (const [name, title] of filters) {
      const end = await this.logs.newestTime(scope, { [name]: text });
      const query = new URLSearchParams({ [name]: text, end: end?.toISOString() ?? '' });
      if (end) found.push({ kind: 'Request log', title: `${title} ${text}`, path: `${list}?${query}` });
    }
    return found;
  }

  private async endpointsWith({ actor, environment }: DashboardScope, text: string): Promise<SearchResult[]> {
    const { data } = await this.endpoints.list(actor, environment);
    return data
      .filter(({ id, url, description }) => id === text || contains(text, url, description))
      .slice(0, MAX_RESULTS_OF_A_KIND)
      .map(({ id, url }) => ({
        kind: 'Webhook endpoint',
        title: url,
        path: dashboardPath(environment, 'webhook-endpoints', id),
      }));
  }

  private async usersWith(actor: DashboardActor, text: string): Promise<SearchResult[]> {
    if (!mayPerform(actor, USER_PERMISSIONS.listUsers)) return [];
    const users = await this.users.search(actor, text, MAX_RESULTS_OF_A_KIND);
    return users.map(({ id, name, email }) => ({
      kind: 'Dashboard user',
      title: `${name}, ${email}`,
      path: `/dashboard/users/${id}`,
    }));
  }
}

function contains(text: string, ...values: readonly (string | null)[]): boolean {
  return values.some((value) => value?.toLowerCase().includes(text.toLowerCase()));
}
