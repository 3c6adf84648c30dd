import {
  ActionButton,
  Allowed,
  Details,
  Form,
  isolated,
  Link,
  Notice,
  noticePage,
  Table,
  type Page,
} from '../../../infrastructure/pages/index.js';
import { parsedUrl } from '../../../infrastructure/config/index.js';
import { ROLE_NAMES } from '../../dashboard-users/index.js';
import type { SsoConfiguration } from '../sso-configuration.entity.js';
import { configurationPath } from '../configuration-path.js';
import { trustOf } from './provider-trust.js';
import { loginPath, RECENCY_REMEDY } from '../identity-provider.js';
import type { TestResult } from './sso-responses.service.js';
import type { Person } from './sso-users.service.js';
import { SSO_PERMISSIONS } from '../single-sign-on.capability.js';

/** A provider may send hundreds of claims, such as groups. */
const MAX_SHOWN = 30;
const MAX_LENGTH = 200;

export function failedLoginPage(problem: string): Page {
  return noticePage({
    title: 'The login failed',
    status: 403,
    notice: problem,
    text: 'If it fails again, ask an owner or admin of your organization: they see the failed login, too.',
    links: { '/login': 'Start again', '/login?with=password': 'Log in with a password' },
  });
}

/** @param current the address of the user who is logged in */
export function suggestedLoginPage(configuration: SsoConfiguration, current?: string): Page {
  const { name, protocol, ssoUrl, entityId } = configuration;
  return {
    title: 'Log in with single sign-on',
    content: (
      <>
        <p>
          Continue to log in at the identity provider {isolated(name)} (
          {parsedUrl(protocol === 'saml' ? ssoUrl : entityId)?.host}).
        </p>
        {current === undefined ? null : (
          <p>You are logged in as {current}. The new login replaces this one.</p>
        )}
        <Form action={loginPath(configuration)}>
          <button>Continue</button>
        </Form>
      </>
    ),
  };
}

/** Shows what a login would do, and the claims that it is based on. */
export function testedPage(configuration: SsoConfiguration, result: TestResult): Page {
  const { id, name, enabledAt } = configuration;
  const { claims, person, problem, roleProblem, recencyProblem } = result;
  return {
    title: person ? 'The test succeeded' : 'The test failed',
    parent: { title: name, path: configurationPath(id) },
    status: person ? 200 : 403,
    isNeverStored: true,
    content: (
      <>
        {person ? <Notice kind="good">{effectOf(person)}</Notice> : <Notice kind="bad">{problem}</Notice>}
        {roleProblem === undefined ? null : <Notice kind="bad">{roleProblem}</Notice>}
        {recencyProblem === undefined ? null : (
          <Notice kind="bad">
            {recencyProblem} {RECENCY_REMEDY}
          </Notice>
        )}
        {person && !enabledAt ? (
          <Allowed permission={SSO_PERMISSIONS.enableSsoConfiguration}>
            <p>
              Once it is enabled, users whose email addresses are in your proved domains are sent to this
              identity provider when they log in.
            </p>
            <Details entries={Object.entries(trustOf(configuration))} />
            <ActionButton action={configurationPath(id, 'enable')} version={trustOf(configuration)}>
              Enable single sign-on
            </ActionButton>
          </Allowed>
        ) : null}
        <h2>What the identity provider sent</h2>
        <p>These values are not stored, except the email address in the list of logins.</p>
        <Table
          caption="What the identity provider sent"
          rows={Object.entries(claims).slice(0, MAX_SHOWN)}
          keyOf={([claim]) => claim}
          columns={[
            { title: 'Name', kind: 'main', cell: ([claim]) => claim },
            { title: 'Value', kind: 'main', cell: ([, value]) => textOf(value) },
          ]}
        />
        <Link to={configurationPath(id)}>Back to {name}</Link>
      </>
    ),
  };
}

/** Returns what a login would do. */
function effectOf({ user, isInvited = false, email, role, ...person }: Person): string {
  const name = isolated(person.name);
  if (!user && isInvited)
    return `With a login, ${name} (${email}) would accept the invitation, with the role ${ROLE_NAMES[role]}.`;
  if (!user) return `A login would create the user ${name} (${email}) with the role ${ROLE_NAMES[role]}.`;
  const login = `With a login, ${name} (${email}) would be logged in.`;
  if (user.disabledAt) return `${login} The user is disabled, so the login would be refused.`;
  return role === user.role
    ? login
    : `${login} The role would change from ${ROLE_NAMES[user.role]} to ${ROLE_NAMES[role]}.`;
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
