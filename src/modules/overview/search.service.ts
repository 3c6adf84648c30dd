import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { mayPerform, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { ApiError } from '../../infrastructure/errors/index.js';
import { dashboardPath } from '../../infrastructure/http/index.js';
import { pathOfUser } from '../../infrastructure/pages/index.js';
import { UserAdministrationService } from '../dashboard-users/index.js';
import { MerchantsService } from '../merchants/index.js';
import { RequestLogsService } from '../request-logs/index.js';
import { WebhookEndpointsService } from '../webhook-endpoints/index.js';
import { PublishedEventsService } from '../webhooks/index.js';

/** Something that a text names, and its page. */
export interface SearchResult {
  readonly kind: string;
  readonly title: string;
  readonly path: string;
}

/** Characters of a text: the longest identifier of a user. */
export const MAX_SEARCH_LENGTH = 256;
const MAX_RESULTS_OF_A_KIND = 10;
const ENTRY_ID = /^\d{1,15}$/;
const REQUEST_ID = /^[\w-]{8,64}$/;

/** Finds what a text names, in one environment of the user's organization. Only looks up by indexes, and in lists that are short. */
@Injectable()
export class SearchService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: PublishedEventsService,
    private readonly users: UserAdministrationService,
    private readonly logs: RequestLogsService,
    private readonly merchants: MerchantsService,
  ) {}

  async find(actor: DashboardActor, environment: PlatformEnvironment, text: string): Promise<SearchResult[]> {
    const found = await Promise.all([
      this.event(actor, environment, text),
      this.endpointsWith(actor, environment, text),
      this.externalUsers(actor, environment, text),
      this.usersWith(actor, text),
      this.merchantsWith(actor, environment, text),
      this.inLog(actor, environment, text),
    ]);
    return found.flat();
  }

  private async event(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
  ): Promise<SearchResult[]> {
    if (!isUUID(id)) return [];
    const event = await ifFound(this.events.get(actor, environment, id));
    return event
      ? [{ kind: 'Event', title: event.name, path: dashboardPath(environment, 'events', id) }]
      : [];
  }

  private async externalUsers(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    text: string,
  ): Promise<SearchResult[]> {
    // Identifiers differ in the case of letters, but most have only small ones.
    const found = [...new Set([text, text.toLowerCase()])].map((prefix) =>
      this.logs.usersWith(actor, environment, { prefix, limit: MAX_RESULTS_OF_A_KIND }),
    );
    const users = [...new Set((await Promise.all(found)).flat())];
    return users.map((user) => ({ kind: 'User', title: user, path: pathOfUser(environment, user) }));
  }

  private async merchantsWith(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    text: string,
  ): Promise<SearchResult[]> {
    if (!mayPerform(actor, 'listMerchants')) return [];
    const merchants = await this.merchants.list(actor, environment);
    return merchants
      .filter(({ name }) => contains(text, name))
      .toSorted((a, b) => positionIn(a.name, text) - positionIn(b.name, text))
      .slice(0, MAX_RESULTS_OF_A_KIND)
      .map(({ name }) => ({
        kind: 'Merchant',
        title: name,
        path: `${dashboardPath(environment, 'merchants')}?${new URLSearchParams({ name })}`,
      }));
  }

  /** Finds an entry by its ID, and those of a session or a request. */
  private async inLog(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    text: string,
  ): Promise<SearchResult[]> {
    const list = dashboardPath(environment, 'request-logs');
    const entry = ENTRY_ID.test(text) && (await ifFound(this.logs.get(actor, text, environment)));
    const found = entry ? [{ kind: 'Request log', title: `Entry ${text}`, path: `${list}/${text}` }] : [];
    const filters = [
      ...(isUUID(text) ? [['session_id', 'Entries of the session'] as const] : []),
      ...(REQUEST_ID.test(text) ? [['request_id', 'Entries of the request'] as const] : []),
    ];
    for (const [name, title] of filters) {
      const end = await this.logs.newestTime(actor, environment, { [name]: text });
      const query = new URLSearchParams({ [name]: text, end: end?.toISOString() ?? '' });
      if (end) found.push({ kind: 'Request log', title: `${title} ${text}`, path: `${list}?${query}` });
    }
    return found;
  }

  private async endpointsWith(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    text: string,
  ): Promise<SearchResult[]> {
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
    if (!mayPerform(actor, 'listUsers')) return [];
    const users = await this.users.search(actor, text, MAX_RESULTS_OF_A_KIND);
    return users.map(({ id, name, email }) => ({
      kind: 'Dashboard user',
      title: `${name}, ${email}`,
      path: `/dashboard/users/${id}`,
    }));
  }
}

/** Returns undefined if the thing does not exist. */
async function ifFound<T>(thing: Promise<T>): Promise<T | undefined> {
  try {
    return await thing;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function positionIn(name: string, text: string): number {
  return name.toLowerCase().indexOf(text.toLowerCase());
}

function contains(text: string, ...values: readonly (string | null)[]): boolean {
  return values.some((value) => value?.toLowerCase().includes(text.toLowerCase()));
}
