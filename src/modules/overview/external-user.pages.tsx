import { Controller, Get, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import { AccessibleClients } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  allUsers,
  Badge,
  ConfirmPage,
  DashboardPage,
  dashboardPath,
  Details,
  EmptyState,
  EraseButton,
  FormProblem,
  HiddenField,
  inDigits,
  inEachEnvironment,
  isolated,
  Moment,
  noticePage,
  pathOfUser,
  pathWith,
  queryFrom,
  requestFrom,
  SessionLink,
  submitted,
  Table,
  TextField,
  Tiles,
  usePage,
  Visit,
  type Column,
  UNCHANGEABLE,
  type Confirmation,
  type Page,
  type PageResponse,
  type PageVisit,
} from '../../infrastructure/pages/index.js';
import { Clock, DAY } from '../../infrastructure/time/index.js';
import { ExternalUserIdField, MAX_EXTERNAL_USER_ID_LENGTH } from '../../infrastructure/validation/index.js';
import { AgentConnectionsService, type AgentConnectionResponse } from '../agent-authorization/index.js';
import {
  UserErasuresService,
  EXTERNAL_USER_PERMISSIONS,
  type UserErasureResponse,
} from '../external-users/index.js';
import { McpTokensRepository, type UserMcpToken } from '../mcp-tokens/index.js';
import {
  ACCOUNT_COLUMNS,
  MerchantAccountsService,
  type MerchantAccountResponse,
} from '../merchant-accounts/index.js';
import {
  entryColumns,
  RequestLogsService,
  unlessBusy,
  type RequestLogEntryResponse,
  REQUEST_LOG_PERMISSIONS,
} from '../request-logs/index.js';
import { SessionsRepository, type UserSession } from '../sessions/index.js';
import { LINK_COLUMNS, SignInLinksService, type SignInLinkResponse } from '../sign-in-links/index.js';
import { PublishedEventsService } from '../webhooks/index.js';

/** How many things of a kind are counted. */
const COUNTED = 25;
/** Rows of a table. The lists have the others. */
const SHOWN = 10;

/** The first `COUNTED` things of each kind. */
interface ExternalUserPageProps {
  readonly user: string;
  /** The entries of the last 7 days, like the events; undefined if the request log is too busy. */
  readonly entries: readonly RequestLogEntryResponse[] | undefined;
  readonly events: number | undefined;
  readonly accounts: readonly MerchantAccountResponse[];
  readonly links: readonly SignInLinkResponse[];
  readonly agents: readonly AgentConnectionResponse[];
  readonly sessions: readonly UserSession[];
  readonly mcpTokens: readonly UserMcpToken[];
}

class ExternalUserQuery {
  @ExternalUserIdField({ in: 'query' })
  external_user_id!: string;
}

@Controller(inEachEnvironment('external-users'))
export class ExternalUserPage {
  constructor(
    private readonly clients: AccessibleClients,
    private readonly logs: RequestLogsService,
    private readonly events: PublishedEventsService,
    private readonly accounts: MerchantAccountsService,
    private readonly links: SignInLinksService,
    private readonly agents: AgentConnectionsService,
    private readonly sessions: SessionsRepository,
    private readonly mcpTokens: McpTokensRepository,
    private readonly erasures: UserErasuresService,
    private readonly clock: Clock,
  ) {}

  /** Shows what is known about one user of the organization. An unknown user has nothing. */
  @Get()
  @DashboardPage(REQUEST_LOG_PERMISSIONS.listRequestLogs)
  async show(@Visit() visit: PageVisit): Promise<PageResponse> {
    const find = (): Page => findUserPage(visit.environment);
    return visit.query['external_user_id'] ? submitted(() => this.user(visit), find) : find();
  }

  private async user(visit: PageVisit): Promise<Page> {
    const { actor, environment, query } = visit;
    const { external_user_id: user } = queryFrom(ExternalUserQuery, query);
    const { clientId } = await this.clients.forEnvironment(actor, environment);
    const end = this.clock.now();
    const period = { start: new Date(end.getTime() - 7 * DAY).toISOString(), end: end.toISOString() };
    const wanted = { environment, external_user_id: user, limit: COUNTED };
    const [entries, events, accounts, links, agents, sessions, mcpTokens] = await Promise.all([
      unlessBusy(this.logs.page(actor, { ...wanted, ...period })),
      unlessBusy(this.events.count(visit, { external_user_id: user, limit: COUNTED })),
      this.accounts.list(actor, wanted),
      this.links.list(actor, wanted),
      this.agents.list(actor, wanted),
      this.sessions.newestOfUser(clientId, user, COUNTED),
      this.mcpTokens.newestOfUser(clientId, user, COUNTED),
    ]);
    const found = {
      user,
      entries: entries?.data,
      events,
      accounts: accounts.data,
      links: links.data,
      agents: agents.data,
      sessions,
      mcpTokens,
    };
    const erasure = await this.erasures.find({ clientId }, user);
    return erasure && erasure.finished_at === null
      ? erasurePage(environment, erasure, found)
      : externalUserPage(environment, found);
  }
}

@Controller(inEachEnvironment('external-users/erase'))
export class EraseUserPage extends ConfirmPage(
  EXTERNAL_USER_PERMISSIONS.eraseExternalUser,
  ExternalUserQuery,
) {
  @Inject() private readonly clients!: AccessibleClients;
  @Inject() private readonly erasures!: UserErasuresService;

  /** @param visit.query the user, who is a field of the form when it is sent */
  describe({ actor, environment, query, form }: PageVisit): Confirmation<unknown, ExternalUserQuery> {
    const { external_user_id: user } = requestFrom(ExternalUserQuery, form, query);
    return {
      title: `Erase ${isolated(user)}?`,
      ...UNCHANGEABLE,
      parent: { title: isolated(user), path: pathOfUser(environment, user) },
      text: (
        <>
          <HiddenField name="external_user_id" value={user} />
          <p>
            Everything that the service stores about the customer in this environment is erased: merchant
            accounts, sessions, tokens, connected agents, sign-in links, and the identifier in the logs.
            Tokens stop working at once; the rest takes at least a minute. This cannot be undone.
          </p>
        </>
      ),
      button: 'Erase customer',
      perform: async () => {
        const { clientId } = await this.clients.forEnvironment(actor, environment);
        const { organizationId } = actor;
        await this.erasures.request({ clientId, environment, organizationId }, user, actor);
      },
      next: `${pathOfUser(environment, user)}&done=erased`,
    };
  }
}

function findUserPage(environment: PlatformEnvironment): Page {
  return {
    title: 'Find or erase a customer',
    about: 'The activity, accounts, sessions and agents of one customer.',
    content: (
      <form method="get" action={dashboardPath(environment, 'external-users')}>
        <FormProblem />
        <TextField
          name="external_user_id"
          label="Customer"
          hint="The identifier that your system has for the customer. The search at the top finds customers by any part of it."
          maxLength={MAX_EXTERNAL_USER_ID_LENGTH}
        />
        <button>Show customer</button>
      </form>
    ),
  };
}

const MESSAGES = {
  erased: 'The erasure has begun. Tokens no longer work. The rest takes at least a minute.',
};

function externalUserPage(environment: PlatformEnvironment, props: ExternalUserPageProps): Page {
  const { user } = props;
  return {
    title: isolated(user),
    parent: allUsers(environment),
    actions: <EraseButton user={user} permission={EXTERNAL_USER_PERMISSIONS.eraseExternalUser} />,
    messages: MESSAGES,
    content: (
      <>
        {props.entries && props.events !== undefined ? null : (
          <p>The request log is busy, so not everything is known. Reload the page to see it.</p>
        )}
        <Counts {...props} />
        {isUnknown(props) ? (
          <EmptyState title="Nothing is known about this customer">
            <p>
              {`No request or event of the last 7 days has this identifier, and no account, session, link, agent or token of the ${environment} environment.`}
            </p>
          </EmptyState>
        ) : null}
        <Section title="Latest activity" rows={props.entries ?? []}>
          {entryColumns(environment)}
        </Section>
        <Section title="Merchant accounts" rows={props.accounts}>
          {ACCOUNT_COLUMNS}
        </Section>
        <Section title="Latest sessions" rows={props.sessions}>
          {[
            {
              title: 'Session ID',
              kind: 'main',
              cell: ({ id, createdAt }) => <SessionLink id={id} time={createdAt} />,
            },
            { title: 'Type', kind: 'text', cell: ({ type }) => <code>{type}</code> },
            { title: 'Created', kind: 'time', isOnDeskOnly: true, cell: ({ createdAt }) => createdAt },
            { title: 'Expires', kind: 'time', cell: ({ expiresAt }) => expiresAt },
          ]}
        </Section>
        <Section title="Sign-in links" rows={props.links}>
          {LINK_COLUMNS}
        </Section>
        <Section title="Connected agents" rows={props.agents}>
          {[
            { title: 'Agent', kind: 'main', cell: ({ agent }) => `${agent.name} (${agent.host})` },
            { title: 'Connected', kind: 'time', cell: ({ created_at }) => created_at },
            { title: 'Last token', kind: 'time', cell: ({ last_used_at }) => last_used_at },
          ]}
        </Section>
        <Section title="Latest MCP tokens" rows={props.mcpTokens}>
          {[
            { title: 'Created for', kind: 'main', cell: ({ agent }) => agent ?? 'Your API client' },
            { title: 'Status', kind: 'state', cell: (token) => <TokenStatus {...token} /> },
            { title: 'Created', kind: 'time', isOnDeskOnly: true, cell: ({ createdAt }) => createdAt },
            { title: 'Expires', kind: 'time', cell: ({ expiresAt }) => expiresAt },
          ]}
        </Section>
      </>
    ),
  };
}

function isUnknown({
  events,
  entries,
  accounts,
  links,
  agents,
  sessions,
  mcpTokens,
}: ExternalUserPageProps): boolean {
  const found = [entries, accounts, links, agents, sessions, mcpTokens];
  return events === 0 && found.every((things) => things?.length === 0);
}

/** Nothing about a user is shown while it is being erased, apart from how much is left. */
function erasurePage(
  environment: PlatformEnvironment,
  { requested_at: requestedAt, erased }: UserErasureResponse,
  { entries = [], events = 0, ...found }: ExternalUserPageProps,
): Page {
  const { accounts, links, agents, sessions, mcpTokens } = found;
  const counts = [
    ...[entries, accounts, links, agents, sessions, mcpTokens].map(({ length }) => length),
    events,
  ];
  const left = counts.reduce((total, count) => total + count, 0);
  const isPartial = counts.some((count) => count >= COUNTED);
  return noticePage({
    title: 'A user is being erased',
    parent: allUsers(environment),
    notice: MESSAGES.erased,
    text: (
      <Details
        entries={[
          ['Since', <Moment key="since" time={requestedAt} />],
          ['Erased so far', inDigits(erased)],
          ['Left', `${inDigits(left)}${isPartial ? ' or more' : ''}`],
        ]}
      />
    ),
  });
}

/** How much there is of each kind, with links to the lists. */
function Counts({ user, ...found }: ExternalUserPageProps): VNode {
  const { environment } = usePage();
  const linked = (page: string, count: number | undefined, period?: string): VNode => (
    <a href={pathWith(dashboardPath(environment, page), { external_user_id: user }, { period })}>
      {inWords(count)}
    </a>
  );
  return (
    <Tiles
      entries={[
        ['Activity, 7 days', linked('request-logs', found.entries?.length, '7d')],
        ['Events, 7 days', linked('events', found.events)],
        ['Accounts', linked('merchant-accounts', found.accounts.length)],
        ['Sessions', inWords(found.sessions.length)],
        ['Sign-in links', linked('sign-in-links', found.links.length)],
        ['Agents', linked('agents', found.agents.length)],
        ['MCP tokens', inWords(found.mcpTokens.length)],
      ]}
    />
  );
}

function inWords(count: number | undefined): string {
  if (count === undefined) return 'Not known';
  return count < COUNTED ? String(count) : `${COUNTED} or more`;
}

interface SectionProps<Row> {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly children: readonly Column<Row>[];
}

/** A part of the page, unless there is nothing: the counts say so. */
function Section<Row>({ title, rows, children }: SectionProps<Row>): VNode | null {
  if (rows.length === 0) return null;
  return (
    <>
      <h2>{title}</h2>
      <Table
        caption={title}
        rows={rows.slice(0, SHOWN)}
        keyOf={(row) => rows.indexOf(row)}
        columns={children}
      />
    </>
  );
}

function TokenStatus({ revokedAt, expiresAt }: UserMcpToken): VNode {
  const { now } = usePage();
  if (revokedAt) return <Badge tone="soft">Revoked</Badge>;
  return expiresAt <= now ? <Badge tone="soft">Expired</Badge> : <Badge tone="good">Valid</Badge>;
}
