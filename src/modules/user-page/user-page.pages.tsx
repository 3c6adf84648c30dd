import type { ComponentChildren, FunctionComponent, VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  ActionButton,
  ButtonLink,
  Details,
  Foreign,
  Form,
  FormProblem,
  isolated,
  Moment,
  Notice,
  noticePage,
  pathWith,
  RelativeTime,
  Seen,
  usePage,
  type Page,
  type ShownValues,
} from '../../infrastructure/pages/index.js';
import { timeInUtc } from '../../infrastructure/time/index.js';
import { SCOPES_IN_WORDS } from '../agent-authorization/index.js';
import type { Endable, EndAction, UserOverview } from './user-page.service.js';
import type { EndedThing } from './user-sessions.js';

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
        <Closed />
        <p>
          Here you see which assistants may act for you at <strong>{organization}</strong>, and which of your
          accounts are connected. You can disconnect any of them. <Test environment={environment} />
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

/** Shown to users who were too late, for example because they wanted to end something after the page had closed in another tab. */
function Closed(): VNode | null {
  const { done, query } = usePage();
  if (done === 'login_ended') return <Notice kind="bad">Your login has ended. Log in again.</Notice>;
  if (done !== 'nothing_ended' && query['action'] === undefined) return null;
  return <Notice kind="bad">Nothing was ended: this page had closed. Log in and try again.</Notice>;
}

interface UserPageProps extends PageData, UserOverview {
  /** What the user has just ended. */
  readonly ended: EndedThing | undefined;
}

/** The page of a user. It does not name the user, because the service knows only the identifier of the partner. */
export function userPage({ organization, environment, path, ended, ...shown }: UserPageProps): Page {
  const { agents, accounts, links } = shown;
  return {
    title: `Who acts for you at ${isolated(organization)}`,
    // Of what had ended before, for example in another tab, the page knows nothing.
    ...(!ended && {
      messages: {
        disconnected: 'The assistant can no longer act for you.',
        unlinked: 'The account is no longer connected.',
        cancelled: 'The link no longer works.',
      },
    }),
    content: (
      <>
        {ended ? <Ended {...ended} organization={organization} agents={agents} /> : null}
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
                  ['Allowed', <Since time={connection.created_at} />],
                  ['Last used', <RelativeTime time={connection.last_used_at} />],
                ]}
              />
              <EndButton path={path} action="disconnect" id={connection.id} of={connection.agent.name} />
            </section>
          ))}
        </Section>
        <More path={path} name="agents" cursor={agents.next_cursor} />
        <h2>Your accounts</h2>
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
                entries={[[state === 'connected' ? 'Connected' : 'Not connected', <Since time={since} />]]}
              />
              {state === 'connected' ? (
                <EndButton path={path} action="unlink" id={String(merchant.id)} of={merchant.name} />
              ) : null}
            </section>
          ))}
        </Section>
        <More path={path} name="accounts" cursor={accounts.next_cursor} />
        <h2>Open requests</h2>
        <p>Links that ask you to connect an account. Cancel those that you did not expect.</p>
        <Section empty="No links are waiting for you.">
          {links.map(({ id, merchant, source, created_at: createdAt, expires_at: expiresAt }) => (
            <section key={id}>
              <h3>
                <Foreign text={merchant.name} />
              </h3>
              <Details
                entries={[
                  ['Sent by', source === 'agent' ? 'An assistant' : organization],
                  ['Sent', <Since time={createdAt} />],
                  ['Expires', <RelativeTime time={expiresAt} />],
                ]}
              />
              <EndButton path={path} action="cancel" id={id} of={merchant.name} />
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

function Since({ time }: { readonly time: Date }): VNode {
  return (
    <>
      <Moment isToMinute time={time} /> (<RelativeTime time={time} />)
    </>
  );
}

const BUTTONS: Readonly<Record<EndAction, string>> = {
  disconnect: 'Disconnect',
  unlink: 'Unlink',
  cancel: 'Cancel link',
};

interface EndButtonProps extends Pick<Endable, 'action' | 'id'> {
  readonly path: string;
  readonly of: string;
}

/** Leads to the page that asks whether the user means it. */
function EndButton({ path, action, id, of }: EndButtonProps): VNode {
  return (
    <ButtonLink to={pathWith(path, { action, id }, {})} kind="danger" of={of}>
      {BUTTONS[action]}
    </ButtonLink>
  );
}

/** Asks before an assistant, an account or a link ends. */
export function confirmPage({ organization, path }: PageData, thing: Endable): Page {
  const { action, id, name, host, since } = thing;
  const { title, effect, begun } = {
    disconnect: {
      title: `Disconnect ${isolated(name)}?`,
      effect: 'It will no longer be able to act for you. You can allow it again later.',
      begun: 'Allowed',
    },
    unlink: {
      title: `Unlink ${isolated(name)}?`,
      effect: `The account will no longer be connected to ${organization}. It stays open at ${isolated(name)}, and you can connect it again later.`,
      begun: 'Connected',
    },
    cancel: {
      title: `Cancel the link for ${isolated(name)}?`,
      effect: 'Nobody will be able to connect the account with this link. You can get another one later.',
      begun: 'Sent',
    },
  }[action];
  return {
    title,
    content: (
      <>
        <FormProblem />
        <Details
          entries={[
            ['Where it runs', host],
            [begun, <Since key="since" time={since} />],
          ]}
        />
        <p>{effect}</p>
        <Form action={path}>
          <input type="hidden" name="action" value={action} />
          <input type="hidden" name="id" value={id} />
          {action === 'unlink' ? <Seen values={shownAccountOf(since)} /> : null}
          <div class="actions apart">
            <ButtonLink to={path} kind="second">
              Go back
            </ButtonLink>
            <button class="danger">{BUTTONS[action]}</button>
          </div>
        </Form>
      </>
    ),
  };
}

/** Which connection of an account the user unlinks, for `requireUnchanged`. */
export const shownAccountOf = (since: Date): ShownValues => ({ Connected: timeInUtc(since) });

interface EndedProps extends EndedThing, Pick<PageData, 'organization'> {
  /** Those that the page shows, which can have the name of the one that has ended. */
  readonly agents: UserOverview['agents'];
}

/** Says exactly what has ended: several assistants can have the same name. */
function Ended(props: EndedProps): VNode {
  const { action, name, host, since, organization, agents } = props;
  const time = <Moment isToMinute time={new Date(since)} />;
  const what = <Foreign text={name} />;
  if (action === 'disconnect')
    return (
      <Notice kind="good">
        {what} ({host}), allowed {time}, can no longer act for you.
        <Remaining name={name} agents={agents} />
      </Notice>
    );
  if (action === 'unlink')
    return (
      <Notice kind="good">
        Your account at {what}, connected {time}, is no longer connected to {organization}.
      </Notice>
    );
  return (
    <Notice kind="good">
      The link for {what}, sent {time}, no longer works.
    </Notice>
  );
}

/** Names the assistants that still act for the user under the name of the one that has ended. */
function Remaining({ name, agents }: Pick<EndedProps, 'name' | 'agents'>): VNode | null {
  const [first, ...others] = agents.data.filter(({ agent }) => agent.name === name);
  if (!first) return null;
  if (others.length > 0 || agents.next_cursor !== null)
    return <> Other assistants with this name are still connected.</>;
  return (
    <>
      {' '}
      Another one with this name ({first.agent.host}), allowed <Moment isToMinute time={first.created_at} />,
      is still connected.
    </>
  );
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
    title: 'You are logged out of this page',
    notice: `You can close this tab. To see again who acts for you at ${organization}, log in again.`,
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
