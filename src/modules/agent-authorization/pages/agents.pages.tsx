import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import { AccessibleClients } from '../../../infrastructure/auth/index.js';
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
  isolated,
  Link,
  ListPage,
  Moment,
  SelectField,
  Table,
  TextArea,
  TextField,
  UNCHANGEABLE,
  UserLink,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type PageVisit,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import { labelOf } from '../agents/agent.js';
import { AgentUserRequest } from '../authorizations/authorizations.dto.js';
import { IdentificationsService } from '../authorizations/identifications.service.js';
import {
  ListAgentConnectionsQuery,
  type AgentConnectionResponse,
} from '../connections/agent-connections.dto.js';
import { AgentConnectionsService } from '../connections/agent-connections.service.js';
import {
  CreateAgentRequest,
  UpdateAgentSettingsRequest,
  type ShownAgentSettings,
} from '../settings/agent-settings.dto.js';
import { RegisteredAgentsService } from '../connections/registered-agents.service.js';
import { AgentSettingsService, namedSettings } from '../settings/agent-settings.service.js';
import { AGENT_PERMISSIONS } from '../agent-authorization.capability.js';

const agentsOf = (environment: PlatformEnvironment) => ({
  title: 'Agents',
  path: dashboardPath(environment, 'agents'),
});
const settingsOf = (environment: PlatformEnvironment) => ({
  title: 'Settings for agents',
  path: dashboardPath(environment, 'agents', 'settings'),
});

@Controller(inEachEnvironment('agents'))
class ConnectionsPage extends ListPage(AGENT_PERMISSIONS.listAgentConnections, ListAgentConnectionsQuery) {
  @Inject() private readonly connections!: AgentConnectionsService;
  @Inject() private readonly settings!: AgentSettingsService;

  async describe({
    actor,
    environment,
    query,
  }: PageVisit): Promise<ListDescription<AgentConnectionResponse, ListAgentConnectionsQuery>> {
    const { title, path } = agentsOf(environment);
    const { connectorUrl, loginUrl } = await this.settings.get(actor, environment);
    return {
      title,
      about: 'Agents that your users have connected. They act for the user until the connection ends.',
      actions: (
        <ButtonLink permission={AGENT_PERMISSIONS.getAgentSettings} to={`${path}/settings`} kind="second">
          Settings
        </ButtonLink>
      ),
      messages: { disconnected: 'The agent was disconnected.' },
      filters: (
        <>
          <Filter name="external_user_id" label="Customer" />
          <Filter name="host" label="Host of the agent" />
        </>
      ),
      apply: 'Show connections',
      rows: (filters, limit) =>
        this.connections.list(actor, { ...filters, limit: Math.min(limit, filters.limit) }),
      caption: 'Connected agents',
      columns: [
        { title: 'Customer', kind: 'main', cell: ({ external_user_id: user }) => <UserLink user={user} /> },
        { title: 'Agent', kind: 'main', cell: ({ agent }) => `${agent.name} (${agent.host})` },
        { title: 'Scopes', kind: 'text', isOnDeskOnly: true, cell: ({ scopes }) => scopes.join(', ') },
        { title: 'Connected', kind: 'time', isOnWideOnly: true, cell: ({ created_at }) => created_at },
        { title: 'Last token', kind: 'time', cell: ({ last_used_at }) => last_used_at },
        { title: 'Ends if not used', kind: 'time', isOnWideOnly: true, cell: ({ expires_at }) => expires_at },
        actionColumn({
          permission: AGENT_PERMISSIONS.disconnectAgent,
          label: 'Disconnect',
          to: ({ id }) => `${path}/connections/${id}/disconnect`,
          of: ({ agent, external_user_id: user }) => `${agent.name} of ${user}`,
        }),
      ],
      empty: query['host']
        ? { title: 'No connected agent has this host', text: 'Enter a whole host name, such as claude.ai.' }
        : {
            title: query['external_user_id']
              ? 'This customer has no connected agents'
              : 'No agents are connected',
            text: (
              <>
                <p>
                  To connect one, the user adds this address to an agent, such as Claude or ChatGPT, as a
                  connector (MCP server), and logs in
                  {environment === 'development' && loginUrl === null
                    ? ': in the sandbox, as any test user'
                    : ''}
                  .
                </p>
                <CodeBlock title="Connector address" code={connectorUrl} />
                <Link to="/docs/agent-login">Learn how agents log in</Link>
              </>
            ),
          },
    };
  }
}

@Controller(inEachEnvironment('agents/connections/:id/disconnect'))
class DisconnectPage extends ConfirmPage(AGENT_PERMISSIONS.disconnectAgent) {
  @Inject() private readonly connections!: AgentConnectionsService;
  @Inject() private readonly clients!: AccessibleClients;

  async describe({ actor, environment, params }: PageVisit<'id'>): Promise<Confirmation> {
    const parent = agentsOf(environment);
    const { organizationId } = actor;
    const client = { ...(await this.clients.forEnvironment(actor, environment)), organizationId };
    const connection = await this.connections.require(client, params.id);
    const { id, agentName, agentHost, externalUserId } = connection;
    return {
      title: `Disconnect ${isolated(labelOf(agentName, agentHost))} of ${isolated(externalUserId)}?`,
      parent,
      text: (
        <>
          <Details
            entries={[
              ['Scopes', connection.scopes.join(', ')],
              ['Connected', <Moment key="connected" time={connection.createdAt} />],
              ['Last token', <Moment key="used" time={connection.usedAt} />],
              ['Ends if not used', <Moment key="ends" time={connection.expiresAt} />],
            ]}
          />
          <p>
            The agent can no longer act for the user, and its pending sign-in links stop working. The user can
            connect it again.
          </p>
        </>
      ),
      button: 'Disconnect agent',
      ...UNCHANGEABLE,
      perform: () => this.connections.disconnect(client, id, actor),
      next: `${parent.path}?done=disconnected`,
    };
  }
}

/** The page on which a member of the organization chooses the user of the sandbox for a login that has begun. */
@Controller(inEachEnvironment('agents/log-in'))
class SandboxLoginPage extends FormPage(
  // Another site leads to the page, so showing it must not be an audited action.
  { show: AGENT_PERMISSIONS.listAgentConnections, send: AGENT_PERMISSIONS.logInAsTestUser },
  AgentUserRequest,
  { opener: 'kept beyond the login' },
) {
  @Inject() private readonly settings!: AgentSettingsService;
  @Inject() private readonly identifications!: IdentificationsService;

  describe({ actor, environment, query, form }: PageVisit): FormDescription<AgentUserRequest> {
    return {
      title: 'Log in as a test user',
      parent: agentsOf(environment),
      text: `You are logging in as a user in the ${environment} environment, for example to connect an agent. Continue only if you have just started this yourself.`,
      values: query,
      otherwise: 'Your role does not allow you to log in as a test user. Ask a member of your organization.',
      fields: (
        <>
          <HiddenField name="authorization_id" />
          <TextField name="external_user_id" label="User ID" autocapitalize="none" />
          <TextField
            name="phone_number"
            label="Phone number (optional)"
            hint="Only to connect an agent: a number of the US or Canada, such as +12125550123, with which the agent can create sign-in links."
            required={false}
          />
        </>
      ),
      button: 'Continue as this user',
      formsLeaveSite: true,
      perform: async (request) => {
        const client = await this.settings.requireSandbox(actor, environment);
        const id = form.get('authorization_id') ?? '';
        const { redirect_url: redirectTo } = await this.identifications.completeAs(
          actor,
          client,
          id,
          request,
        );
        return { redirectTo };
      },
    };
  }
}

const SANDBOX_CHOICES = [
  { value: 'members', label: 'Users of this dashboard' },
  { value: 'anyone', label: 'Anyone who knows the address' },
];

const CHOICES = [
  { value: 'off', label: 'No agents' },
  { value: 'hosts', label: 'Agents of the listed hosts' },
  { value: 'any', label: 'Any agent' },
];

const choiceIn = (choices: typeof CHOICES, wanted: string): string =>
  choices.find(({ value }) => value === wanted)?.label ?? wanted;

/** The values that the form changes. */
const versionOf = (settings: ShownAgentSettings): ShownValues => ({
  'Agents that may log in': choiceIn(CHOICES, settings.agents),
  'Listed hosts': settings.hosts.join(', ') || 'None',
  'Your login page': settings.loginUrl ?? 'None: users enter a code',
  'Hosts that sign-in links return to': settings.returnHosts.join(', ') || 'None',
  'Who may log in as any test user': choiceIn(SANDBOX_CHOICES, settings.sandboxLogin),
});

@Controller(inEachEnvironment('agents/settings'))
class SettingsPage extends FormPage(
  { show: AGENT_PERMISSIONS.getAgentSettings, send: AGENT_PERMISSIONS.updateAgentSettings },
  UpdateAgentSettingsRequest,
) {
  @Inject() private readonly settings!: AgentSettingsService;

  async describe({
    actor,
    environment,
  }: PageVisit): Promise<FormDescription<UpdateAgentSettingsRequest, ShownAgentSettings>> {
    const settings = await this.settings.get(actor, environment);
    const { title, path } = settingsOf(environment);
    return {
      title,
      parent: agentsOf(environment),
      messages: {
        saved: 'The settings were saved.',
        registered: 'The agent was registered.',
        removed:
          'The agent was removed. Its connections no longer work. Their events and audit log entries follow one after another.',
      },
      text: (
        <>
          <p>Users paste the address of the connector into an agent to connect it.</p>
          <CodeBlock title="Connector address" code={settings.connectorUrl} />
        </>
      ),
      otherwise: <Details entries={Object.entries(versionOf(settings))} />,
      subject: settings,
      shows: versionOf,
      values: {
        ...namedSettings(settings),
        allowed_hosts: settings.hosts.join('\n'),
        return_hosts: settings.returnHosts.join('\n'),
      },
      fields: (
        <>
          <SelectField name="allowed_agents" label="Agents that may log in" options={CHOICES} />
          <TextArea
            name="allowed_hosts"
            label="Listed hosts"
            hint="One host name per line, such as claude.ai, or the scheme of an app, such as “cursor:”. Users return to these hosts and apps."
            rows={4}
          />
          <TextField
            name="login_url"
            label="Your login page"
            hint="Where your users log in to connect an agent, to open a sign-in link, and to see their page. Leave it empty if they enter a code of your app instead."
          />
          <TextArea
            name="return_hosts"
            label="Hosts that sign-in links return to"
            hint={`One host name per line, such as shop.example.com. The return address of a sign-in link must be at one of them${environment === 'development' ? ', or on your own machine' : ''}.`}
            rows={3}
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
      after: <RegisteredAgents path={agentsOf(environment).path} agents={settings.registeredAgents} />,
      perform: (request, check) => this.settings.update(actor, request, check),
      next: `${path}?done=saved`,
    };
  }
}

interface RegisteredAgentsProps {
  /** The path of the list of agents. */
  readonly path: string;
  readonly agents: ShownAgentSettings['registeredAgents'];
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
            {
              title: 'Redirect addresses',
              kind: 'address',
              cell: ({ redirectUris }) => redirectUris.join(', '),
            },
            actionColumn({
              permission: AGENT_PERMISSIONS.deleteAgent,
              label: 'Remove',
              to: ({ id }) => `${path}/${id}/remove`,
              of: ({ name }) => name,
            }),
          ]}
        />
      )}
      <div class="actions">
        <ButtonLink permission={AGENT_PERMISSIONS.createAgent} to={`${path}/register`} kind="second">
          Register agent
        </ButtonLink>
      </div>
    </>
  );
}

@Controller(inEachEnvironment('agents/register'))
class RegisterPage extends FormPage(AGENT_PERMISSIONS.createAgent, CreateAgentRequest) {
  @Inject() private readonly agents!: RegisteredAgentsService;

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
      perform: (request) => this.agents.register(actor, request),
      next: `${parent.path}?done=registered`,
    };
  }
}

@Controller(inEachEnvironment('agents/:id/remove'))
class RemovePage extends ConfirmPage(AGENT_PERMISSIONS.deleteAgent) {
  @Inject() private readonly agents!: RegisteredAgentsService;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation> {
    const parent = settingsOf(visit.environment);
    const { id, name } = await this.agents.requireRegistered(visit, visit.params.id);
    return {
      title: `Remove ${isolated(name)}?`,
      parent,
      text: 'The agent can no longer log in, and all its connections stop working at once. Their events follow one after another, which takes a while for many users.',
      button: 'Remove agent',
      ...UNCHANGEABLE,
      perform: () => this.agents.remove(visit, id),
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
