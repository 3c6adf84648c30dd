import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { mayPerform, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { ApiError } from '../../infrastructure/errors/index.js';
import { dashboardPath } from '../../infrastructure/http/index.js';
import { UserAdministrationService } from '../dashboard-users/index.js';
import { listsAbout, pathOfUser } from './external-user.pages.js';
import { PublishedEventsService, WebhookEndpointsService } from '../webhooks/index.js';

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

/** Finds what a text names, in one environment of the user's organization. Only looks up by indexes, and in lists that are short. */
@Injectable()
export class SearchService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: PublishedEventsService,
    private readonly users: UserAdministrationService,
  ) {}

  async find(actor: DashboardActor, environment: PlatformEnvironment, text: string): Promise<SearchResult[]> {
    const found = await Promise.all([
      this.event(actor, environment, text),
      this.endpointsWith(actor, environment, text),
      this.usersWith(actor, text),
    ]);
    return [...found.flat(), ...inLogs(actor, environment, text)];
  }

  private async event(
    actor: DashboardActor,
    environment: PlatformEnvironment,
    id: string,
  ): Promise<SearchResult[]> {
    if (!isUUID(id)) return [];
    try {
      const { name } = await this.events.get(actor, environment, id);
      return [{ kind: 'Event', title: name, path: dashboardPath(environment, 'events', id) }];
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
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

function contains(text: string, ...values: readonly (string | null)[]): boolean {
  return values.some((value) => value?.toLowerCase().includes(text.toLowerCase()));
}

/** Returns links to log entries and to a user's data that the text may name. The linked pages show whether there are any. */
function inLogs(actor: DashboardActor, environment: PlatformEnvironment, text: string): SearchResult[] {
  const logs = (filter: string): string =>
    `${dashboardPath(environment, 'request-logs')}?${new URLSearchParams({ [filter]: text, period: '7d' })}`;
  return [
    ...(ENTRY_ID.test(text)
      ? [
          {
            kind: 'Request log',
            title: `Entry ${text}`,
            path: dashboardPath(environment, 'request-logs', text),
          },
        ]
      : []),
    {
      kind: 'User',
      title: `Everything about ${text}`,
      path: pathOfUser(environment, text),
    },
    ...listsAbout(actor, environment, text).map(({ title, path }) => ({
      kind: 'User',
      title: `${title} of ${text}`,
      path,
    })),
    ...(isUUID(text)
      ? [{ kind: 'Request log', title: 'Entries of this session', path: logs('session_id') }]
      : []),
    { kind: 'Request log', title: 'Failed requests with this request ID', path: logs('request_id') },
  ];
}
