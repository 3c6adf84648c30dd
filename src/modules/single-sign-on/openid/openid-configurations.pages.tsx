import type { VNode } from 'preact';
import {
  ActionButton,
  Allowed,
  Badge,
  ButtonLink,
  CodeBlock,
  confirmationPage,
  Details,
  Done,
  Form,
  FormProblem,
  Moment,
  RelativeTime,
  Table,
  TextField,
  type Page,
} from '../../../infrastructure/pages/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import type { SsoAttempt } from '../logins/sso-attempt.entity.js';

const OVERVIEW = { title: 'Single sign-on', path: '/dashboard/single-sign-on' };
const PATH = '/dashboard/openid-connect';
export const NEW_OPENID_PATH = `${PATH}/configurations/new`;

export function openidPath(id: string, ...action: readonly string[]): string {
  return [PATH, encodeURIComponent(id), ...action].join('/');
}

function parentOf({ id, name }: SsoConfiguration): NonNullable<Page['parent']> {
  return { title: name, path: openidPath(id) };
}

/** The list on the overview of single sign-on. */
export function OpenidConfigurations({ rows }: { readonly rows: readonly SsoConfiguration[] }): VNode {
  return (
    <Table
      caption="Identity providers with OpenID Connect"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Name', cell: ({ id, name }) => <a href={openidPath(id)}>{name}</a> },
        { title: 'Status', cell: (configuration) => <Status configuration={configuration} /> },
        { title: 'Issuer', cell: ({ entityId }) => entityId },
        { title: 'Added', cell: ({ createdAt }) => <RelativeTime time={createdAt} /> },
      ]}
    />
  );
}

function Status({ configuration }: { readonly configuration: SsoConfiguration }): VNode {
  return configuration.enabledAt ? <Badge tone="good">Enabled</Badge> : <Badge tone="soft">Disabled</Badge>;
}

export function openidPage(
  configuration: SsoConfiguration,
  redirectUri: string,
  attempts: readonly SsoAttempt[],
): Page {
  const { id, name, enabledAt, testedAt } = configuration;
  return {
    title: name,
    parent: OVERVIEW,
    actions: (
      <>
        <Allowed operation="updateSamlConfiguration">
          <ButtonLink to={openidPath(id, 'change')} kind="second">
            Change
          </ButtonLink>
        </Allowed>
        <Allowed operation={enabledAt ? 'disableSamlConfiguration' : 'enableSamlConfiguration'}>
          <ButtonLink
            to={openidPath(id, enabledAt ? 'disable' : 'enable')}
            kind={enabledAt || !testedAt ? 'second' : 'first'}
          >
            {enabledAt ? 'Disable' : 'Enable'}
          </ButtonLink>
        </Allowed>
      </>
    ),
    content: (
      <>
        <Done
          messages={{
            added:
              'The identity provider was added. Register the redirect address there, then test the login.',
            changed: 'The identity provider was changed.',
            enabled: 'Single sign-on is enabled.',
            disabled: 'Single sign-on is disabled. Users log in with their passwords.',
          }}
        />
        <FormProblem />
        <Details
          entries={[
            ['Status', <Status key="status" configuration={configuration} />],
            ['Issuer', configuration.entityId],
            ['Client ID', configuration.clientId],
            ['Tested', testedAt ? <Moment key="tested" time={testedAt} /> : 'Not yet'],
          ]}
        />
        <h2>1. Register the redirect address</h2>
        <p>Add this address to the application at your identity provider.</p>
        <CodeBlock title="Redirect address" code={redirectUri} />
        <h2>2. Test the login</h2>
        <p>
          Log in at your identity provider to see what it sends, and whom a login would log in. A test logs
          nobody in.
        </p>
        <Allowed operation="enableSamlConfiguration">
          <ActionButton action={openidPath(id, 'test')}>Test login</ActionButton>
        </Allowed>
        <h2>3. Enable single sign-on</h2>
        <p>
          Users whose email addresses are in one of your{' '}
          <a href="/dashboard/allowed-domains">proved domains</a> are then sent to your identity provider.
          Their passwords keep working.
        </p>
        <h2>Last logins</h2>
        {attempts.length === 0 ? <p>Nobody has logged in yet.</p> : <Attempts rows={attempts} />}
      </>
    ),
  };
}

function Attempts({ rows }: { readonly rows: readonly SsoAttempt[] }): VNode {
  return (
    <Table
      caption="Last logins"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Time', cell: ({ finishedAt, createdAt }) => <Moment time={finishedAt ?? createdAt} /> },
        { title: 'Email address', cell: ({ email }) => email ?? 'Unknown' },
        { title: 'Kind', cell: ({ testerId }) => (testerId === null ? 'Login' : 'Test') },
        {
          title: 'Outcome',
          cell: ({ problem }) =>
            problem === null ? <Badge tone="good">Succeeded</Badge> : <Badge tone="bad">Failed</Badge>,
        },
        { title: 'Reason', cell: ({ problem }) => problem ?? '' },
      ]}
    />
  );
}

export function newOpenidPage(): Page {
  return {
    title: 'Add an identity provider with OpenID Connect',
    parent: OVERVIEW,
    content: (
      <>
        <FormProblem />
        <p>
          Create an application of the type “web” at your identity provider first. You get its redirect
          address here after this step.
        </p>
        <Form action={NEW_OPENID_PATH}>
          <TextField name="name" label="Name" hint="Your name for it, such as “Okta”" maxLength={256} />
          <TextField
            name="issuer"
            label="Issuer"
            type="url"
            hint="Such as https://login.example.com. Its discovery document is fetched."
            maxLength={1_024}
          />
          <TextField name="client_id" label="Client ID" maxLength={256} />
          <TextField name="client_secret" label="Client secret" type="password" maxLength={1_024} />
          <button>Add identity provider</button>
        </Form>
      </>
    ),
  };
}

export function changeOpenidPage(configuration: SsoConfiguration): Page {
  const { id, name } = configuration;
  return {
    title: `Change ${name}`,
    parent: parentOf(configuration),
    content: (
      <>
        <FormProblem />
        <Form action={openidPath(id, 'change')}>
          <TextField name="name" label="Name" value={name} maxLength={256} />
          <TextField
            name="client_secret"
            label="New client secret"
            type="password"
            hint="Leave it empty to keep the current secret."
            required={false}
            maxLength={1_024}
          />
          <button>Save changes</button>
        </Form>
      </>
    ),
  };
}

export function confirmOpenidPage(configuration: SsoConfiguration, action: 'enable' | 'disable'): Page {
  const { id, name } = configuration;
  const isEnabling = action === 'enable';
  return confirmationPage({
    title: `${isEnabling ? 'Enable' : 'Disable'} ${name}?`,
    parent: parentOf(configuration),
    action: openidPath(id, action),
    button: `${isEnabling ? 'Enable' : 'Disable'} single sign-on`,
    isDestructive: !isEnabling,
    children: (
      <p>
        {isEnabling
          ? 'Users whose email addresses are in your proved domains are sent to this identity provider when they log in.'
          : 'Users log in with their passwords. Logins that exist stay.'}
      </p>
    ),
  });
}
