import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  Allowed,
  ButtonLink,
  confirmationPage,
  dashboardPath,
  Details,
  Done,
  EmptyState,
  Filter,
  FilterForm,
  Form,
  FormProblem,
  Moment,
  Pagination,
  RelativeTime,
  Results,
  SelectField,
  Table,
  TextArea,
  TextField,
  usePage,
  UserLink,
  type Page,
  SubmitButton,
} from '../../../infrastructure/pages/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH, maxLengthOf } from '../../../infrastructure/validation/index.js';
import type { AgentConnectionListResponse } from '../connections/agent-connections.dto.js';
import { CreateAgentRequest, type AgentSettingsResponse } from '../settings/agent-settings.dto.js';

const pathOf = (environment: PlatformEnvironment, page = ''): string =>
  `${dashboardPath(environment, 'agents')}${page}`;

export function agentsPage({ found }: { readonly found?: AgentConnectionListResponse }): Page {
  return {
    title: 'Agents',
    about: 'Agents that your users have connected. They act for the user until the connection ends.',
    actions: <SettingsButton />,
    content: (
      <>
        <Done messages={{ disconnected: 'The agent was disconnected.' }} />
        <Filters />
        <Results>
          <FormProblem />
          {found ? <Connections {...found} /> : null}
        </Results>
      </>
    ),
  };
}

function SettingsButton(): VNode {
  const { environment } = usePage();
  return (
    <Allowed operation="getAgentSettings">
      <ButtonLink to={pathOf(environment, '/settings')} kind="second">
        Settings
      </ButtonLink>
    </Allowed>
  );
}

function Filters(): VNode {
  return (
    <FilterForm apply="Show connections">
      <Filter name="external_user_id" label="User" />
      <Filter name="host" label="Host of the agent" />
    </FilterForm>
  );
}

function Connections({ data, next_cursor: nextCursor }: AgentConnectionListResponse): VNode {
  const { environment, query } = usePage();
  if (data.length === 0)
    return (
      <EmptyState
        title={query['external_user_id'] ? 'This user has no connected agents' : 'No agents are connected'}
      >
        <p>Connections appear here when users connect agents in the {environment} environment.</p>
      </EmptyState>
    );
  return (
    <>
      <Table
        caption="Connected agents"
        rows={data}
        keyOf={({ id }) => id}
        columns={[
          { title: 'User', kind: 'main', cell: ({ external_user_id: user }) => <UserLink user={user} /> },
          { title: 'Agent', kind: 'main', cell: ({ agent }) => `${agent.name} (${agent.host})` },
          { title: 'Scopes', kind: 'short', cell: ({ scopes }) => scopes.join(', ') },
          { title: 'Connected', kind: 'time', cell: ({ created_at: time }) => <RelativeTime time={time} /> },
          {
            title: 'Last token issued',
            kind: 'time',
            cell: ({ last_used_at: time }) => <RelativeTime time={time} />,
          },
          {
            title: 'Ends if not used',
            kind: 'moment',
            cell: ({ expires_at: time }) => <Moment time={time} />,
          },
          {
            title: 'Actions',
            kind: 'buttons',
            cell: ({ id, agent, external_user_id: user }) => (
              <Allowed operation="disconnectAgent">
                <ButtonLink
                  to={pathOf(environment, `/connections/${id}/disconnect`)}
                  kind="danger"
                  of={`${agent.name} of ${user}`}
                >
                  Disconnect
                </ButtonLink>
              </Allowed>
            ),
          },
        ]}
      />
      <Pagination nextCursor={nextCursor} />
    </>
  );
}

export function disconnectPage(environment: PlatformEnvironment, id: string): Page {
  return confirmationPage({
    title: 'Disconnect the agent?',
    parent: { title: 'Agents', path: pathOf(environment) },
    action: pathOf(environment, `/connections/${id}/disconnect`),
    button: 'Disconnect agent',
    children: (
      <p>
        The agent can no longer act for the user, and its pending sign-in links stop working. The user can
        connect it again.
      </p>
    ),
  });
}

/** The page where a member of the organization says which user of the sandbox connects the agent. */
export function sandboxLoginPage(environment: PlatformEnvironment, authorizationId: string): Page {
  return {
    title: 'Log in as a test user',
    parent: { title: 'Agents', path: pathOf(environment) },
    formsLeaveSite: true,
    content: (
      <>
        <FormProblem />
        <p>
          You are connecting an agent in the {environment} environment. Continue only if you have just started
          this yourself.
        </p>
        <Form action={pathOf(environment, '/log-in')}>
          <input type="hidden" name="authorization_id" value={authorizationId} />
          <TextField
            name="external_user_id"
            label="External user ID"
            autocapitalize="none"
            maxLength={MAX_EXTERNAL_USER_ID_LENGTH}
          />
          <SubmitButton>Continue as this user</SubmitButton>
        </Form>
      </>
    ),
  };
}

const SANDBOX_CHOICES = [
  { value: 'members', label: 'Users of this dashboard' },
  { value: 'anyone', label: 'Anyone who knows the connector address' },
];

const CHOICES = [
  { value: 'off', label: 'No agents' },
  { value: 'hosts', label: 'Agents of the listed hosts' },
  { value: 'any', label: 'Any agent' },
];

function settingsParent(environment: PlatformEnvironment): NonNullable<Page['parent']> {
  return { title: 'Settings for agents', path: pathOf(environment, '/settings') };
}

export function settingsPage(environment: PlatformEnvironment, settings: AgentSettingsResponse): Page {
  return {
    title: 'Settings for agents',
    parent: { title: 'Agents', path: pathOf(environment) },
    content: (
      <>
        <Done
          messages={{
            saved: 'The settings were saved.',
            registered: 'The agent was registered.',
            removed: 'The agent was removed.',
          }}
        />
        <FormProblem />
        <Details entries={[['Connector address', <code key="address">{settings.connector_url}</code>]]} />
        <p>Users paste this address into an agent to connect it.</p>
        <Allowed operation="updateAgentSettings" otherwise={<CurrentSettings {...settings} />}>
          <Form action={pathOf(environment, '/settings')}>
            <SelectField
              name="allowed_agents"
              label="Agents that may log in"
              options={CHOICES}
              value={settings.allowed_agents}
            />
            <TextArea
              name="allowed_hosts"
              label="Listed hosts"
              hint="One host name per line, such as claude.ai, or the scheme of an app, such as cursor:. Users return to these hosts and apps."
              rows={4}
              required={false}
              value={settings.allowed_hosts.join('\n')}
            />
            <TextField
              name="login_url"
              label="Your login page"
              hint="Where your users log in to connect an agent. Leave it empty if they enter a code of your app instead."
              type="url"
              required={false}
              value={settings.login_url ?? ''}
            />
            {environment === 'development' ? (
              <SelectField
                name="sandbox_login"
                label="Who may log in as any test user"
                hint="As long as there is no login page. Only owners can let anyone log in."
                options={SANDBOX_CHOICES}
                value={settings.sandbox_login}
              />
            ) : null}
            <SubmitButton>Save settings</SubmitButton>
          </Form>
        </Allowed>
        <h2>Registered agents</h2>
        <RegisteredAgents environment={environment} agents={settings.registered_agents} />
      </>
    ),
  };
}

function CurrentSettings({
  allowed_agents: agents,
  allowed_hosts: hosts,
  login_url: url,
  sandbox_login: sandbox,
}: AgentSettingsResponse): VNode {
  const choice = CHOICES.find(({ value }) => value === agents)?.label ?? agents;
  return (
    <Details
      entries={[
        ['Agents that may log in', choice],
        ['Listed hosts', hosts.length === 0 ? 'None' : hosts.join(', ')],
        ['Your login page', url ?? 'None: users enter a code'],
        [
          'Who may log in as any test user',
          SANDBOX_CHOICES.find(({ value }) => value === sandbox)?.label ?? '',
        ],
      ]}
    />
  );
}

function RegisteredAgents(props: {
  readonly environment: PlatformEnvironment;
  readonly agents: AgentSettingsResponse['registered_agents'];
}): VNode {
  const { environment, agents } = props;
  return (
    <>
      <p>Most agents identify themselves. Register those that ask for a client ID.</p>
      {agents.length === 0 ? null : (
        <Table
          caption="Registered agents"
          rows={agents}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Name', kind: 'main', cell: ({ name }) => name },
            { title: 'Client ID', kind: 'id', cell: ({ id }) => <code>{id}</code> },
            { title: 'Redirect addresses', kind: 'text', cell: ({ redirect_uris: uris }) => uris.join(', ') },
            {
              title: 'Actions',
              kind: 'buttons',
              cell: ({ id, name }) => (
                <Allowed operation="deleteAgent">
                  <ButtonLink to={pathOf(environment, `/${id}/remove`)} kind="danger" of={name}>
                    Remove
                  </ButtonLink>
                </Allowed>
              ),
            },
          ]}
        />
      )}
      <Allowed operation="createAgent">
        <div class="actions">
          <ButtonLink to={pathOf(environment, '/register')} kind="second">
            Register agent
          </ButtonLink>
        </div>
      </Allowed>
    </>
  );
}

export function registerPage(environment: PlatformEnvironment): Page {
  return {
    title: 'Register an agent',
    parent: settingsParent(environment),
    content: (
      <>
        <FormProblem />
        <Form action={pathOf(environment, '/register')}>
          <TextField
            name="name"
            label="Name"
            hint="Users see it when they connect the agent."
            maxLength={maxLengthOf(CreateAgentRequest, 'name')}
          />
          <TextArea
            name="redirect_uris"
            label="Redirect addresses"
            hint="One URL per line, from the documentation of the agent: https, or http for a program on the user’s computer (localhost, 127.0.0.1)."
            rows={4}
          />
          <SubmitButton>Register agent</SubmitButton>
        </Form>
      </>
    ),
  };
}

export function removePage(environment: PlatformEnvironment, id: string): Page {
  return confirmationPage({
    title: 'Remove the agent?',
    parent: settingsParent(environment),
    action: pathOf(environment, `/${id}/remove`),
    button: 'Remove agent',
    children: <p>The agent can no longer log in, and all its connections end.</p>,
  });
}
