import { Controller, Get, Post } from '@nestjs/common';
import { requestOrigin } from '../../infrastructure/http/index.js';
import {
  FormTokens,
  PageRoute,
  requireUnchanged,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { perMinute } from '../../infrastructure/rate-limiting/index.js';
import { AgentSettingsService, IdentificationsService } from '../agent-authorization/index.js';
import { OrganizationsService } from '../organizations/index.js';
import { UserPageConfiguration } from './user-page.configuration.js';
import {
  closedPage,
  confirmPage,
  shownAccountOf,
  startPage,
  unavailablePage,
  userPage,
} from './user-page.pages.js';
import { END_ACTIONS, UserPageService, type EndAction, type PageUser } from './user-page.service.js';
import { loginOf, userPagePathOf, UserSessions } from './user-sessions.js';

const PAGE = {
  surface: 'connector',
  login: false,
  limit: perMinute('user-pages', 'address', UserPageConfiguration, 'pagesPerMinute'),
} as const;

/** The values of `done` after each action. */
const DONE: Readonly<Record<EndAction, string>> = {
  disconnect: 'disconnected',
  unlink: 'unlinked',
  cancel: 'cancelled',
};

/** The page on which a user of an API client sees which agents act for them. Partners link to it. */
@Controller('users/:client_id')
export class UserPage {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly identifications: IdentificationsService,
    private readonly organizations: OrganizationsService,
    private readonly sessions: UserSessions,
    private readonly page: UserPageService,
    private readonly browsers: FormTokens,
  ) {}

  /**
   * Begins no login by itself. Parameters of the query: `agents`, `accounts`: where the lists begin; `action` and `id`: what the
   * user wants to end, which the page asks about.
   */
  @Get()
  @PageRoute(PAGE)
  async show(@Visit() visit: PageVisit<'client_id'>): Promise<PageResponse> {
    const { params, query, request } = visit;
    const client = await this.settings.findClient(params.client_id);
    if (!client) return unavailablePage();
    const organization = await this.organizations.nameOf(client.organizationId);
    const path = userPagePathOf(client);
    const session = await this.sessions.find(client, request);
    if (query['done'] === 'logged_out' && !session) return closedPage(organization, path);
    if (!session)
      return this.identifications.canLogIn(client)
        ? startPage({ ...client, organization, path })
        : unavailablePage(organization);
    const user = { client, externalUserId: session.externalUserId };
    const action = endActionIn(query['action']);
    if (action) return this.confirm(user, organization, action, textIn(query['id']) ?? '');
    const starts = { agents: textIn(query['agents']), accounts: textIn(query['accounts']) };
    const overview = await this.page.overview(user, starts);
    const ended = query['done'] === undefined ? undefined : session.ended;
    if (ended) this.sessions.remember(client, session, undefined, visit);
    return userPage({ ...client, organization, path, ended, ...overview });
  }

  /** Where the user returns from the login. */
  @Get(':login')
  @PageRoute(PAGE)
  async open(@Visit() visit: PageVisit<'client_id' | 'login'>): Promise<PageResponse> {
    const { params } = visit;
    const client = await this.settings.findClient(params.client_id);
    if (!client) return unavailablePage();
    const isOpened = await this.sessions.open(client, params.login, visit);
    return { redirectTo: `${userPagePathOf(client)}${isOpened ? '' : '?done=login_ended'}` };
  }

  @Post()
  @PageRoute({ ...PAGE, form: true })
  async submit(@Visit() visit: PageVisit<'client_id'>): Promise<PageResponse> {
    const { params, form, request, response } = visit;
    const client = await this.settings.findClient(params.client_id);
    if (!client) return unavailablePage();
    const path = userPagePathOf(client);
    const action = form.get('action') ?? '';
    if (action === 'log_in') {
      if (!this.identifications.canLogIn(client)) return { redirectTo: path };
      const browser = this.browsers.identify(request, response);
      return { redirectTo: await this.identifications.begin(client, loginOf(client), browser) };
    }
    if (action === 'log_out') {
      await this.sessions.close(client, visit);
      return { redirectTo: `${path}?done=logged_out` };
    }
    const session = await this.sessions.find(client, request);
    const end = endActionIn(action);
    if (!end) return { redirectTo: path };
    if (!session) return { redirectTo: `${path}?done=nothing_ended` };
    const user = { client, externalUserId: session.externalUserId };
    const id = form.get('id') ?? '';
    return submitted(
      async () => {
        const thing = await this.page.find(user, end, id);
        await this.page[end](user, id, requestOrigin(request), ({ stateSetAt }) =>
          requireUnchanged(form, shownAccountOf(stateSetAt)),
        );
        if (thing)
          this.sessions.remember(client, session, { ...thing, since: thing.since.toISOString() }, visit);
        return { redirectTo: `${path}?done=${DONE[end]}` };
      },
      async () => this.confirm(user, await this.organizations.nameOf(client.organizationId), end, id),
    );
  }

  private async confirm(
    user: PageUser,
    organization: string,
    action: EndAction,
    id: string,
  ): Promise<PageResponse> {
    const path = userPagePathOf(user.client);
    const thing = await this.page.find(user, action, id);
    return thing ? confirmPage({ ...user.client, organization, path }, thing) : { redirectTo: path };
  }
}

const endActionIn = (value: unknown): EndAction | undefined => END_ACTIONS.find((each) => each === value);

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
