import { Controller, Get, Post } from '@nestjs/common';
import { requestOrigin } from '../../infrastructure/http/index.js';
import {
  FormTokens,
  PageRoute,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { perMinute } from '../../infrastructure/rate-limiting/index.js';
import { AgentSettingsService, IdentificationsService } from '../agent-authorization/index.js';
import { OrganizationsService } from '../organizations/index.js';
import { UserPageConfiguration } from './user-page.configuration.js';
import { closedPage, startPage, unavailablePage, userPage } from './user-page.pages.js';
import { UserPageService } from './user-page.service.js';
import { loginOf, userPagePathOf, UserSessions } from './user-sessions.js';

const PAGE = {
  surface: 'connector',
  login: false,
  limit: perMinute('user-pages', 'address', UserPageConfiguration, 'pagesPerMinute'),
} as const;

/** The action of each button, and the message that the page then shows. */
const ACTIONS = {
  disconnect: 'disconnected',
  unlink: 'unlinked',
  cancel: 'cancelled',
} as const;

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

  /** Begins no login by itself. Parameters of the query: `agents`, `accounts`: where the lists begin */
  @Get()
  @PageRoute(PAGE)
  async show(@Visit() { params, query, request }: PageVisit<'client_id'>): Promise<PageResponse> {
    const client = await this.settings.findClient(params.client_id);
    if (!client) return unavailablePage();
    const organization = await this.organizations.nameOf(client.organizationId);
    const path = userPagePathOf(client);
    const session = this.sessions.find(client, request);
    if (query['done'] === 'logged_out' && !session) return closedPage(organization, path);
    if (!session)
      return this.identifications.canLogIn(client)
        ? startPage({ ...client, organization, path })
        : unavailablePage(organization);
    const starts = { agents: textIn(query['agents']), accounts: textIn(query['accounts']) };
    const user = { client, externalUserId: session.externalUserId };
    const overview = await this.page.overview(user, starts);
    return userPage({ ...client, organization, path, ...overview });
  }

  /** Where the user returns from the login. */
  @Get(':login')
  @PageRoute(PAGE)
  async open(@Visit() visit: PageVisit<'client_id' | 'login'>): Promise<PageResponse> {
    const { params } = visit;
    const client = await this.settings.findClient(params.client_id);
    if (!client) return unavailablePage();
    // Otherwise, the page asks the user to log in.
    await this.sessions.open(client, params.login, visit);
    return { redirectTo: userPagePathOf(client) };
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
    const session = this.sessions.find(client, request);
    if (!session) return { redirectTo: path };
    if (action === 'log_out') {
      await this.sessions.close(client, visit);
      return { redirectTo: `${path}?done=logged_out` };
    }
    if (!Object.hasOwn(ACTIONS, action)) return { redirectTo: path };
    const user = { client, externalUserId: session.externalUserId };
    const name = action as keyof typeof ACTIONS;
    await this.page[name](user, form.get('id') ?? '', requestOrigin(request));
    return { redirectTo: `${path}?done=${ACTIONS[name]}` };
  }
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
