import type { ComponentChildren, VNode } from 'preact';
import type { AgentScope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  Foreign,
  Form,
  Notice,
  noticePage,
  Seen,
  TextField,
  type Page,
  type ShownValues,
  isolated,
} from '../../../infrastructure/pages/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH } from '../../../infrastructure/validation/index.js';
import { isLocalUri, isPrivateUseUri, hostOrSchemeOf } from '../agents/agent.js';
import { pagePathOf } from '../agent-addresses.js';
import type { AgentAuthorization } from './agent-authorization.entity.js';
import type { Purpose } from './identification.js';

export interface AuthorizationPageData {
  readonly authorization: AgentAuthorization;
  readonly organization: string;
  /** The path of the logo, if the organization has one. */
  readonly logo: string | undefined;
  readonly environment: PlatformEnvironment;
  /** Whether users can log in to the page that shows who acts for them. */
  readonly hasUserPage: boolean;
  /** Whether users log in at the partner. */
  readonly hasLoginPage: boolean;
  /** Whether anyone can be any user, or the page of the dashboard where members can; null if users have to prove who they are. */
  readonly sandbox: 'open' | (string & {}) | null;
}

/** The rights of an agent, in words. */
export const SCOPES_IN_WORDS: Readonly<Record<AgentScope, string>> = {
  'accounts:read': 'See which merchants you have accounts with, and whether they are connected',
  'sign_in_links:write':
    'Ask you to sign in to merchants, by text message or with a link. Only you can sign in',
};

function pathOf({ clientId, id }: AgentAuthorization): string {
  return pagePathOf(clientId, id);
}

function Organization({ organization, logo, environment }: AuthorizationPageData): VNode {
  return (
    <p class="partner">
      {logo === undefined ? (
        <span class="logo initial" aria-hidden="true">
          {[...organization][0]}
        </span>
      ) : (
        <img class="logo" src={logo} alt="" />
      )}
      <strong>
        <Foreign text={organization} />
      </strong>{' '}
      {environment === 'development' ? <span class="environment development">Test</span> : null}
    </p>
  );
}

function Decline({ authorization }: AuthorizationPageData): VNode {
  return (
    <Form action={pathOf(authorization)}>
      <button class="second" name="action" value="decline">
        Decline
      </button>
    </Form>
  );
}

/** Why the page shows a form again, and at which field. */
interface LoginProblem {
  readonly field: 'external_user_id' | 'phone_number' | 'code';
  readonly message: string;
}

/** The page where the user says who they are: with a code from the partner's app or, in the sandbox, with any ID. */
export function loginPage(data: AuthorizationPageData, problem?: LoginProblem): Page {
  const { authorization, organization, sandbox } = data;
  const isForAgent = authorization.purpose === 'agent';
  return {
    title: isForAgent
      ? `Connect ${isolated(authorization.agentName)}`
      : `Log in to ${isolated(organization)}`,
    ...(problem && { status: 400, problem: { message: problem.message, options: { field: problem.field } } }),
    formsLeaveSite: true,
    content: (
      <>
        <Organization {...data} />
        {sandbox !== null && sandbox !== 'open' ? (
          <p>
            Members of {organization} can <a href={sandbox}>log in to the dashboard</a> and continue as any
            test user.
          </p>
        ) : null}
        {sandbox === 'open' ? (
          <>
            <p>
              This page stands in for the login of {organization} in the test environment. Enter the ID of any
              test user.
            </p>
            <Form action={pathOf(authorization)}>
              <TextField
                name="external_user_id"
                label="User ID"
                autocapitalize="none"
                maxLength={MAX_EXTERNAL_USER_ID_LENGTH}
              />
              {isForAgent ? (
                <TextField
                  name="phone_number"
                  label="Phone number (optional)"
                  hint="A number of the US or Canada, such as +12125550123. With it, the agent can create sign-in links."
                  maxLength={20}
                  required={false}
                />
              ) : null}
              <button name="action" value="log_in">
                Continue as this user
              </button>
            </Form>
          </>
        ) : null}
        {isForAgent ? <EnterCode {...data} /> : null}
      </>
    ),
  };
}

function EnterCode(data: AuthorizationPageData): VNode {
  return (
    <>
      <h2>Enter a code</h2>
      <p>
        Open the {data.organization} app, choose to connect an agent, and enter the code that the app shows.
        Don’t enter a code that someone sent you.
      </p>
      <Form action={pathOf(data.authorization)}>
        <TextField name="code" label="Code" isCode autocapitalize="none" maxLength={20} />
        <button class={data.sandbox === 'open' ? 'second' : undefined} name="action" value="enter_code">
          Continue
        </button>
      </Form>
      <h2>Didn’t ask for this?</h2>
      <Decline {...data} />
    </>
  );
}

/** The user for whom the page approves. */
export const shownUserOf = ({ externalUserId }: AgentAuthorization): ShownValues => ({
  User: externalUserId ?? '',
});

/** The page where the user decides. It is never skipped, also if the user has connected the agent before. */
export function consentPage(data: AuthorizationPageData): Page {
  const { authorization, organization } = data;
  const { agentName, redirectUri, scopes } = authorization;
  const place = hostOrSchemeOf(redirectUri);
  return {
    title: `Connect ${isolated(agentName)} to ${isolated(organization)}?`,
    formsLeaveSite: true,
    content: (
      <>
        <Organization {...data} />
        <p>
          <strong>
            <Foreign text={agentName} />
          </strong>{' '}
          asks to act for you. If you approve, you return to{' '}
          {isPrivateUseUri(redirectUri) ? 'an app on this device, which opens links that begin with ' : null}
          <strong>{place}</strong>.
        </p>
        <Form action={pathOf(authorization)}>
          <p>
            You continue as{' '}
            <strong>
              <Foreign text={authorization.externalUserId ?? ''} />
            </strong>
            .{' '}
            <button class="quiet" name="action" value="log_in_again">
              Not you?
            </button>{' '}
            {data.hasLoginPage ? <>If {organization} doesn’t ask who you are, log out there first.</> : null}
          </p>
        </Form>
        <Warning {...authorization} />
        <h2>What it may do</h2>
        <ul>
          {scopes.map((scope) => (
            <li key={scope}>{SCOPES_IN_WORDS[scope]}</li>
          ))}
        </ul>
        <p>
          It never sees your passwords. The connection ends if it is not used for 60 days, or when you{' '}
          {data.hasUserPage ? (
            <>
              end it on{' '}
              <a href={`/users/${authorization.clientId}`} target="_blank" rel="noreferrer">
                the page that shows who acts for you
              </a>
              .
            </>
          ) : (
            `ask ${organization} to end it.`
          )}
        </p>
        <Form action={pathOf(authorization)}>
          <Seen values={shownUserOf(authorization)} />
          <div class="choice">
            <button name="action" value="approve">
              Approve
            </button>
            <button class="second" name="action" value="decline">
              Decline
            </button>
          </div>
        </Form>
      </>
    ),
  };
}

/** Says what is not proven about the agent. */
function Warning({ agentKind, agentId, agentName, redirectUri }: AgentAuthorization): ComponentChildren {
  if (isLocalUri(redirectUri))
    return (
      <Notice kind="warn">
        You return to a program on this computer, and any program here can claim to be {agentName}. Approve
        only if you have just started this yourself.
      </Notice>
    );
  if (agentKind === 'registered') return null;
  const proof = hostOrSchemeOf(agentKind === 'document' ? agentId : redirectUri);
  return (
    <Notice kind="warn">
      The agent chose its name itself. What is certain is only that it belongs to {proof}. Approve only if you
      trust that address.
    </Notice>
  );
}

/** A browser without our cookies looks like another one. */
const COOKIES = 'If you began in this browser, allow cookies for this site.';

/** Why an authorization cannot continue. */
export type AuthorizationNotice =
  'done' | 'connected' | 'declined' | 'ended' | 'expired' | 'otherBrowser' | 'waiting';

interface NoticeText {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

const NOTICES: Readonly<Record<AuthorizationNotice, NoticeText>> = {
  connected: {
    status: 200,
    title: 'The agent is connected',
    text: 'You approved this request. Close this page, and continue in the agent.',
  },
  done: {
    status: 410,
    title: 'This request was already approved',
    text: 'If the agent is not connected, start again in the agent.',
  },
  declined: {
    status: 410,
    title: 'This request was declined',
    text: 'The agent has no access. To connect it after all, start again in the agent.',
  },
  ended: {
    status: 410,
    title: 'This request has ended',
    text: 'The login continued in another browser, or was used already. Start again in the agent.',
  },
  expired: {
    status: 410,
    title: 'This request has expired',
    text: 'For your safety, requests are valid for 10 minutes. Start again where you began.',
  },
  otherBrowser: {
    status: 403,
    title: 'This request was started in another browser',
    text: `For your safety, it cannot continue here. Start again in the agent, in this browser. ${COOKIES} If someone sent you a link, don’t use it: they may want access to your account.`,
  },
  waiting: {
    status: 409,
    title: 'The login is not finished',
    text: 'Return to the page where you logged in and continue there, or start again in the agent.',
  },
};

/** The notices that differ if the user does not connect an agent. */
const PAGE_NOTICES: Readonly<Partial<Record<AuthorizationNotice, string>>> = {
  ended:
    'The login continued in another browser, or the page that it opened was closed. Open the link again.',
  expired: 'For your safety, a login is valid for 10 minutes. Open the link again.',
  otherBrowser: `For your safety, it cannot continue here. Open the link again in this browser. ${COOKIES} If someone sent you this address, don’t use it: they may want access to your account.`,
  waiting: 'Return to the page where you logged in and continue there, or open the link again.',
};

/** @param target where the user returns to the agent, as long as the agent can use that */
export function authorizationNotice(
  notice: AuthorizationNotice,
  target?: string,
  purpose: Purpose = 'agent',
): Page {
  const { text: agentText, ...page } = NOTICES[notice];
  const text = (purpose !== 'agent' && PAGE_NOTICES[notice]) || agentText;
  return noticePage({ ...page, notice: text, links: linkTo(target) });
}

/**
 * The page for a request that must not lead back to the agent by itself, because the agent or its address is not verified.
 *
 * @param target where the user can return to the agent
 */
export function refusedPage(message: string, status = 400, target?: string): Page {
  return noticePage({
    title: 'The agent cannot be connected',
    status,
    notice: message,
    text: 'Nothing was shared with the agent.',
    links: linkTo(target),
  });
}

const linkTo = (target: string | undefined): Record<string, string> =>
  target === undefined ? {} : { [target]: `Return to ${hostOrSchemeOf(target)}` };
