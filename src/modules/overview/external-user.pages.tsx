import type { VNode } from 'preact';
import {
  mayPerform,
  type DashboardIdentity,
  type DashboardOperationName,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  confirmationPage,
  dashboardPath,
  Done,
  pathOfUser,
  pathWith,
  RelativeTime,
  Table,
  usePage,
  type Page,
  isolated,
} from '../../infrastructure/pages/index.js';
import type { UserMcpToken } from '../mcp-tokens/index.js';
import type { UserSession } from '../sessions/index.js';

interface ExternalUserPageProps {
  readonly user: string;
  readonly sessions: readonly UserSession[];
  readonly mcpTokens: readonly UserMcpToken[];
}

/** The lists that can be filtered by a user, with the operation whose permission each requires. */
const LISTS: readonly (readonly [title: string, page: string, operation: DashboardOperationName])[] = [
  ['Requests and deliveries', 'request-logs', 'listRequestLogs'],
  ['Events', 'events', 'listRequestLogs'],
  ['Merchant accounts', 'merchant-accounts', 'listMerchantAccounts'],
  ['Sign-in links', 'sign-in-links', 'listSignInLinks'],
  ['Agents', 'agents', 'listAgentConnections'],
];

/** Returns the lists about a user that the visitor may see. */
function listsAbout(
  visitor: DashboardIdentity,
  environment: PlatformEnvironment,
  user: string,
): { title: string; path: string }[] {
  return LISTS.filter(([, , operation]) => mayPerform(visitor, operation)).map(([title, page]) => {
    const period = page === 'request-logs' ? '7d' : undefined;
    return {
      title,
      path: pathWith(dashboardPath(environment, page), { external_user_id: user }, { period }),
    };
  });
}

/** Asks before everything about a user is erased. */
export function erasurePage(environment: PlatformEnvironment, user: string): Page {
  return confirmationPage({
    title: `Erase ${isolated(user)}?`,
    parent: { title: `User ${isolated(user)}`, path: pathOfUser(environment, user) },
    action: dashboardPath(environment, 'external-users', 'erase'),
    button: 'Erase user',
    children: (
      <>
        <input type="hidden" name="external_user_id" value={user} />
        <p>
          Everything that the service stores about the user in this environment is erased: merchant accounts,
          sessions, tokens, connected agents, sign-in links, and the identifier in the logs. Tokens stop
          working at once; the rest takes at least a minute. This cannot be undone.
        </p>
      </>
    ),
  });
}

export function externalUserPage(props: ExternalUserPageProps): Page {
  return { title: `User ${isolated(props.user)}`, content: <ExternalUser {...props} /> };
}

function ExternalUser({ user, sessions, mcpTokens }: ExternalUserPageProps): VNode {
  const { environment, now, user: visitor } = usePage();
  return (
    <>
      <Done
        messages={{
          erased: 'The erasure has begun. Tokens no longer work. The rest takes at least a minute.',
        }}
      />
      <div class="actions">
        {visitor &&
          listsAbout(visitor, environment, user).map(({ title, path }) => (
            <ButtonLink key={path} to={path} kind="second">
              {title}
            </ButtonLink>
          ))}
        <Allowed operation="eraseExternalUser">
          <ButtonLink
            to={pathWith(
              dashboardPath(environment, 'external-users', 'erase'),
              { external_user_id: user },
              {},
            )}
            kind="danger"
          >
            Erase
          </ButtonLink>
        </Allowed>
      </div>
      <h2>Latest sessions</h2>
      {sessions.length === 0 ? (
        <p>The user has no sessions from the last 30 days.</p>
      ) : (
        <Table
          caption="Latest sessions"
          rows={sessions}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Session ID', kind: 'main', cell: ({ id }) => <Session id={id} /> },
            { title: 'Type', kind: 'text', cell: ({ type }) => <code>{type}</code> },
            { title: 'Created', kind: 'time', cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
            { title: 'Expires', kind: 'time', cell: ({ expiresAt }) => <RelativeTime time={expiresAt} /> },
          ]}
        />
      )}
      <h2>Latest MCP tokens</h2>
      {mcpTokens.length === 0 ? (
        <p>The user has no MCP tokens that are valid, or that expired in the last week.</p>
      ) : (
        <Table
          caption="Latest MCP tokens"
          rows={mcpTokens}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Created for', kind: 'main', cell: ({ agent }) => agent ?? 'Your API client' },
            { title: 'Status', kind: 'status', cell: (token) => <TokenStatus {...token} now={now} /> },
            { title: 'Created', kind: 'time', cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
            { title: 'Expires', kind: 'time', cell: ({ expiresAt }) => <RelativeTime time={expiresAt} /> },
          ]}
        />
      )}
    </>
  );
}

/** Leads to the entries of a session in the request log. */
function Session({ id }: { readonly id: string }): VNode {
  const log = dashboardPath(usePage().environment, 'request-logs');
  return <a href={pathWith(log, { session_id: id, period: '7d' }, {})}>{id}</a>;
}

function TokenStatus({ revokedAt, expiresAt, now }: UserMcpToken & { readonly now: Date }): VNode {
  if (revokedAt) return <Badge tone="warn">Revoked</Badge>;
  return expiresAt <= now ? <Badge tone="soft">Expired</Badge> : <Badge tone="good">Valid</Badge>;
}
