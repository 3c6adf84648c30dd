import type { ComponentChildren, FunctionComponent, VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  ActionButton,
  Details,
  Foreign,
  Form,
  isolated,
  noticePage,
  RelativeTime,
  type Page,
} from '../../infrastructure/pages/index.js';
import { SCOPES_IN_WORDS } from '../agent-authorization/index.js';
import type { UserOverview } from './user-page.service.js';

interface PageData {
  readonly organization: string;
  readonly environment: PlatformEnvironment;
  readonly path: string;
}

function Test({ environment }: Pick<PageData, 'environment'>): VNode | null {
  return environment === 'production' ? null : <span class="environment development">Test</span>;
}

/** The page for somebody who has not logged in. */
export function startPage({ organization, environment, path }: PageData): Page {
  return {
    title: `Who acts for you at ${isolated(organization)}`,
    formsLeaveSite: true,
    content: (
      <>
        <p>
          Here you see which assistants may act for you at <strong>{organization}</strong>, and which of your
          accounts are connected. You can end each of them. <Test environment={environment} />
        </p>
        <Form action={path}>
          <button name="action" value="log_in">
            Log in to {organization}
          </button>
        </Form>
      </>
    ),
  };
}

/** The page of a user. It does not name the user, because the service knows only the identifier of the partner. */
export function userPage({ organization, environment, path, ...shown }: PageData & UserOverview): Page {
  const { agents, accounts, links } = shown;
  return {
    title: `Who acts for you at ${isolated(organization)}`,
    messages: {
      disconnected: 'The assistant can no longer act for you.',
      unlinked: 'The account is no longer connected.',
      cancelled: 'The link no longer works.',
    },
    content: (
      <>
        <Test environment={environment} />
        <h2>Assistants</h2>
        <p>
          Programs, such as chat assistants, that you have allowed to act for you. None of them knows your
          passwords.
        </p>
        <Section empty="No assistant can act for you.">
          {agents.data.map((connection) => (
            <section key={connection.id}>
              <h3>
                <Foreign text={connection.agent.name} />
              </h3>
              <Details
                entries={[
                  ['Where it runs', connection.agent.host],
                  [
                    'What it may do',
                    <ul>
                      {connection.scopes.map((scope) => (
                        <li key={scope}>{SCOPES_IN_WORDS[scope]}</li>
                      ))}
                    </ul>,
                  ],
                  ['Allowed', <RelativeTime time={connection.created_at} />],
                  ['Last used', <RelativeTime time={connection.last_used_at} />],
                ]}
              />
              <ActionButton
                action={path}
                fields={{ action: 'disconnect', id: connection.id }}
                of={connection.agent.name}
              >
                Disconnect
              </ActionButton>
            </section>
          ))}
        </Section>
        <More path={path} name="agents" cursor={agents.next_cursor} />
        <h2>Connected accounts</h2>
        <p>
          Accounts at other companies that you have connected to {organization}. Unlinking one does not close
          it.
        </p>
        <Section empty="None of your accounts is connected.">
          {accounts.data.map(({ merchant, state, since }) => (
            <section key={merchant.id}>
              <h3>
                <Foreign text={merchant.name} />
              </h3>
              <Details
                entries={[
                  [state === 'connected' ? 'Connected' : 'Not connected', <RelativeTime time={since} />],
                ]}
              />
              {state === 'connected' ? (
                <ActionButton
                  action={path}
                  fields={{ action: 'unlink', id: String(merchant.id) }}
                  of={merchant.name}
                >
                  Unlink
                </ActionButton>
              ) : null}
            </section>
          ))}
        </Section>
        <More path={path} name="accounts" cursor={accounts.next_cursor} />
        <h2>Open requests</h2>
        <p>Links that ask you to connect an account. Cancel those that you did not expect.</p>
        <Section empty="No links are waiting for you.">
          {links.map(({ id, merchant, source, expires_at: expiresAt }) => (
            <section key={id}>
              <h3>
                <Foreign text={merchant.name} />
              </h3>
              <Details
                entries={[
                  ['Sent by', source === 'agent' ? 'An assistant' : organization],
                  ['Expires', <RelativeTime time={expiresAt} />],
                ]}
              />
              <ActionButton action={path} fields={{ action: 'cancel', id }} of={merchant.name}>
                Cancel link
              </ActionButton>
            </section>
          ))}
        </Section>
        <h2>Done?</h2>
        <p>This page closes by itself after 15 minutes.</p>
        <ActionButton action={path} fields={{ action: 'log_out' }}>
          Close this page
        </ActionButton>
      </>
    ),
  };
}

/** The entries of a list, or a sentence in their place. */
const Section: FunctionComponent<{ readonly empty: string }> = ({ empty, children }) => (
  <>{hasEntries(children) ? children : <p>{empty}</p>}</>
);

function hasEntries(children: ComponentChildren): boolean {
  return Array.isArray(children) && children.length > 0;
}

interface MoreProps {
  readonly path: string;
  readonly name: 'agents' | 'accounts';
  readonly cursor: string | null;
}

function More({ path, name, cursor }: MoreProps): VNode | null {
  return cursor === null ? null : (
    <p>
      <a href={`${path}?${new URLSearchParams({ [name]: cursor })}`}>
        Show more {name === 'agents' ? 'assistants' : name}
      </a>
    </p>
  );
}

/** The page after the user has closed it. */
export function closedPage(organization: string, path: string): Page {
  return noticePage({
    title: 'The page is closed',
    notice: `To see again who acts for you at ${organization}, log in again.`,
    links: { [path]: 'Log in again' },
  });
}

/** The page of a partner that does not exist, or whose users cannot log in. */
export function unavailablePage(organization?: string): Page {
  return noticePage({
    title: 'There is no such page',
    status: 404,
    notice:
      organization === undefined
        ? 'The address may be incomplete.'
        : `${organization} offers no login here. Ask ${organization} which assistants may act for you.`,
  });
}
