import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  actionColumn,
  ButtonLink,
  CodeBlock,
  ConfirmPage,
  dashboardPath,
  Details,
  Filter,
  FormPage,
  HiddenField,
  inEachEnvironment,
  ListPage,
  SelectField,
  Table,
  TextArea,
  TextField,
  UserLink,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { AgentAuthorizationsService } from '../authorizations/agent-authorizations.service.js';
import { AgentUserRequest } from '../authorizations/authorizations.dto.js';
import {
  ListAgentConnectionsQuery,
  type AgentConnectionResponse,
} from '../connections/agent-connections.dto.js';
import { AgentConnectionsService } from '../connections/agent-connections.service.js';
import {
  CreateAgentRequest,
  UpdateAgentSettingsRequest,
  type AgentSettingsResponse,
} from '../settings/agent-settings.dto.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';

const agentsOf = (environment: PlatformEnvironment) => ({
  title: 'Agents',
  path: dashboardPath(environment, 'agents'),
});
const settingsOf = (environment: PlatformEnvironment) => ({
  title: 'Settings for agents',
  path: dashboardPath(environment, 'agents', 'settings'),
});

@Controller(inEachEnvironment('agents'))
class ConnectionsPage extends ListPage('listAgentConnections', ListAgentConnectionsQuery) {
  @Inject() private readonly connections!: AgentConnectionsService;

  describe({
    actor,
    environment,
    query,
  }: PageVisit): ListDescription<AgentConnectionResponse, ListAgentConnectionsQuery> {
    const { title, path } = agentsOf(environment);
    return {
      title,
      about: 'Agents that your users have connected. They act for the user until the connection ends.',
      actions: (
        <ButtonLink operation="getAgentSettings" to={`${path}/settings`} kind="second">
          Settings
        </ButtonLink>
      ),
      messages: { disconnected: 'The agent was disconnected.' },
      filters: (
        <>
          <Filter name="external_user_id" label="User" />
          <Filter name="host" label="Host of the agent" />
        </>
      ),
      apply: 'Show connections',
      rows: (filters, limit) =>
        this.connections.list(actor, { ...filters, limit: Math.min(limit, filters.limit) }),
      caption: 'Connected agents',
      columns: [
        { title: 'User', kind: 'main', cell: ({ external_user_id: user }) => <UserLink user={user} /> },
        { title: 'Agent', kind: 'main', cell: ({ agent }) => `${agent.name} (${agent.host})` },
        { title: 'Scopes', kind: 'short', cell: ({ scopes }) => scopes.join(', ') },
        { title: 'Connected', kind: 'time', cell: ({ created_at }) => created_at },
        { title: 'Last token issued', kind: 'time', cell: ({ last_used_at }) => last_used_at },
        { title: 'Ends if not used', kind: 'time', cell: ({ expires_at }) => expires_at },
        actionColumn({
          operation: 'disconnectAgent',
          label: 'Disconnect',
          to: ({ id }) => `${path}/connections/${id}/disconnect`,
          of: ({ agent, external_user_id: user }) => `${agent.name} of ${user}`,
        }),
      ],
      empty: {
        title: query['external_user_id'] ? 'This user has no connected agents' : 'No agents are connected',
        text: `Connections appear here when users connect agents in the ${environment} environment.`,
      },
    };
  }
}

@Controller(inEachEnvironment('agents/connections/:id/disconnect'))
class DisconnectPage extends ConfirmPage('disconnectAgent') {
  @Inject() private readonly connections!: AgentConnectionsService;

  describe({ actor, environment, params }: PageVisit<'id'>): Confirmation {
    const parent = agentsOf(environment);
    return {
      title: 'Disconnect the agent?',
      parent,
      text:
        'The agent can no longer act for the user, and its pending sign-in links stop working. The user can connect it ' +
        'again.',
      button: 'Disconnect agent',
      perform: () => this.connections.disconnect(actor, params.id, actor.origin),
      next: `${parent.path}?done=disconnected`,
    };
  }
}

/** Where a member of the organization says which user of the sandbox connects an agent, after its authorization began. */
@Controller(inEachEnvironment('agents/log-in'))
class SandboxLoginPage extends FormPage('listAgentConnections', AgentUserRequest) {
  @Inject() private readonly settings!: AgentSettingsService;
  @Inject() private readonly authorizations!: AgentAuthorizationsService;

  describe({ actor, environment, query, form }: PageVisit): FormDescription<AgentUserRequest> {
    return {
      title: 'Log in as a test user',
      parent: agentsOf(environment),
      text: `You are connecting an agent in the ${environment} environment. Continue only if you have just started this yourself.`,
      values: query,
      fields: (
        <>
          <HiddenField name="authorization_id" />
          <TextField name="external_user_id" label="User ID" autocapitalize="none" />
        </>
      ),
      button: 'Continue as this user',
      formsLeaveSite: true,
      perform: async (request) => {
        const client = await this.settings.requireSandbox(actor, environment);
        const id = form.get('authorization_id') ?? '';
        const { redirect_url: redirectTo } = await this.authorizations.complete(client, id, request);
        return { redirectTo };
      },
    };
  }
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

const labelOf = (choices: typeof CHOICES, wanted: string): string =>
  choices.find(({ value }) => value === wanted)?.label ?? wanted;

@Controller(inEachEnvironment('agents/settings'))
class SettingsPage extends FormPage(
  { show: 'getAgentSettings', send: 'updateAgentSettings' },
  UpdateAgentSettingsRequest,
) {
  @Inject() private readonly settings!: AgentSettingsService;

  async describe({ actor, environment }: PageVisit): Promise<FormDescription<UpdateAgentSettingsRequest>> {
    const settings = await this.settings.get(actor, environment);
    const { title, path } = settingsOf(environment);
    const current = {
      'Agents that may log in': labelOf(CHOICES, settings.allowed_agents),
      'Listed hosts': settings.allowed_hosts.join(', ') || 'None',
      'Your login page': settings.login_url ?? 'None: users enter a code',
      'Who may log in as any test user': labelOf(SANDBOX_CHOICES, settings.sandbox_login),
    };
    return {
      title,
      parent: agentsOf(environment),
      messages: {
        saved: 'The settings were saved.',
        registered: 'The agent was registered.',
        removed: 'The agent was removed.',
      },
      text: (
        <>
          <p>Users paste the address of the connector into an agent to connect it.</p>
          <CodeBlock title="Connector address" code={settings.connector_url} />
        </>
      ),
      otherwise: <Details entries={Object.entries(current)} />,
      version: current,
      values: { ...settings, allowed_hosts: settings.allowed_hosts.join('\n') },
      fields: (
        <>
          <SelectField name="allowed_agents" label="Agents that may log in" options={CHOICES} />
          <TextArea
            name="allowed_hosts"
            label="Listed hosts"
            hint="One host name per line, such as claude.ai, or the scheme of an app, such as cursor:. Users return to these hosts and apps."
            rows={4}
          />
          <TextField
            name="login_url"
            label="Your login page"
            hint="Where your users log in to connect an agent. Leave it empty if they enter a code of your app instead."
          />
          {environment === 'development' ? (
            <SelectField
              name="sandbox_login"
              label="Who may log in as any test user"
              hint="As long as there is no login page. Only owners can let anyone log in."
              options={SANDBOX_CHOICES}
            />
          ) : null}
        </>
      ),
      button: 'Save settings',
      after: <RegisteredAgents path={agentsOf(environment).path} agents={settings.registered_agents} />,
      perform: (request) => this.settings.update(actor, request),
      next: `${path}?done=saved`,
    };
  }
}

interface RegisteredAgentsProps {
  /** Of the list of agents. */
  readonly path: string;
  readonly agents: AgentSettingsResponse['registered_agents'];
}

function RegisteredAgents({ path, agents }: RegisteredAgentsProps): VNode {
  return (
    <>
      <h2>Registered agents</h2>
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
            actionColumn({
              operation: 'deleteAgent',
              label: 'Remove',
              to: ({ id }) => `${path}/${id}/remove`,
              of: ({ name }) => name,
            }),
          ]}
        />
      )}
      <div class="actions">
        <ButtonLink operation="createAgent" to={`${path}/register`} kind="second">
          Register agent
        </ButtonLink>
      </div>
    </>
  );
}

@Controller(inEachEnvironment('agents/register'))
class RegisterPage extends FormPage('createAgent', CreateAgentRequest) {
  @Inject() private readonly settings!: AgentSettingsService;

  describe({ actor, environment }: PageVisit): FormDescription<CreateAgentRequest> {
    const parent = settingsOf(environment);
    return {
      title: 'Register an agent',
      parent,
      fields: (
        <>
          <TextField name="name" label="Name" hint="Users see it when they connect the agent." />
          <TextArea
            name="redirect_uris"
            label="Redirect addresses"
            hint="One URL per line, from the documentation of the agent: https, or http for a program on the user’s computer (localhost, 127.0.0.1)."
            rows={4}
          />
        </>
      ),
      button: 'Register agent',
      perform: (request) => this.settings.register(actor, request),
      next: `${parent.path}?done=registered`,
    };
  }
}

@Controller(inEachEnvironment('agents/:id/remove'))
class RemovePage extends ConfirmPage('deleteAgent') {
  @Inject() private readonly settings!: AgentSettingsService;

  describe({ actor, environment, params }: PageVisit<'id'>): Confirmation {
    const parent = settingsOf(environment);
    return {
      title: 'Remove the agent?',
      parent,
      text: 'The agent can no longer log in, and all its connections end.',
      button: 'Remove agent',
      perform: () => this.settings.remove(actor, params.id),
      next: `${parent.path}?done=removed`,
    };
  }
}

/** The pages of the dashboard about agents that users have connected, and about those that may log in. */
export const AGENT_PAGES = [
  ConnectionsPage,
  DisconnectPage,
  SandboxLoginPage,
  SettingsPage,
  RegisterPage,
  RemovePage,
];
