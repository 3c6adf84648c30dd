import {
  ActionButton,
  Allowed,
  Form,
  Link,
  Notice,
  noticePage,
  Table,
  type Page,
} from '../../../infrastructure/pages/index.js';
import { parsedUrl } from '../../../infrastructure/config/index.js';
import { ROLE_NAMES } from '../../dashboard-users/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { configurationPath } from '../configurations/sso-configurations.pages.js';
import { RECENCY_REMEDY } from './identity-provider.js';
import type { TestResult } from './sso-logins.service.js';
import type { Person } from './sso-users.service.js';

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
export function suggestedLoginPage({ id, name, ssoUrl }: SsoConfiguration, current?: string): Page {
  return {
    title: 'Log in with single sign-on',
    content: (
      <>
        <p>
          Continue to log in at the identity provider {name} ({parsedUrl(ssoUrl)?.host}).
        </p>
        {current === undefined ? null : (
          <p>You are logged in as {current}. The new login replaces this one.</p>
        )}
        <Form action={`/sso/saml/${id}/login`}>
          <button>Continue</button>
        </Form>
      </>
    ),
  };
}

/** Shows what a login would do, and the claims that it is based on. */
export function testedPage({ id, name, enabledAt }: SsoConfiguration, result: TestResult): Page {
  const { claims, person, problem, recencyProblem } = result;
  return {
    title: person ? 'The test succeeded' : 'The test failed',
    parent: { title: name, path: configurationPath(id) },
    status: person ? 200 : 403,
    content: (
      <>
        {person ? <Notice kind="good">{effectOf(person)}</Notice> : <Notice kind="bad">{problem}</Notice>}
        {recencyProblem === undefined ? null : (
          <Notice kind="bad">
            {recencyProblem} {RECENCY_REMEDY}
          </Notice>
        )}
        {person && !enabledAt ? (
          <Allowed operation="enableSamlConfiguration">
            <p>
              Once it is enabled, users whose email addresses are in your proved domains are sent to this
              identity provider when they log in.
            </p>
            <ActionButton action={configurationPath(id, 'enable')}>Enable single sign-on</ActionButton>
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
function effectOf({ user, isInvited = false, name, email, role }: Person): string {
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
