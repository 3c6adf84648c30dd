import { z } from 'zod';
import { named, text, webhookEvents, WITH_DATA } from '../../infrastructure/event-catalog/index.js';
import {
  auditActions,
  by,
  byService,
  byUser,
  inEnvironment,
} from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, RECENT_ADMIN } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const AGENT = inEnvironment('agent');

const USER_LOGIN = inEnvironment('user_login');

const AGENT_ACTIONS = auditActions({
  'agent.approve': by('A user of an API client')(AGENT, 'approved/approve an agent (named *)'),
  'agent.decline': by('A user of an API client')(AGENT, 'declined/decline an agent (named *)'),
  'agent.refuse': byService(
    AGENT,
    'ended/end a request of an agent *',
    'It was continued in a browser other than the one in which it began.',
  ),
  'user_login.complete': byUser(
    USER_LOGIN,
    'logged/log in as a test user (for *)',
    'The change names the test user by the pseudonym that an erasure would leave.',
  ),
  'user_login.refuse': byService(
    USER_LOGIN,
    'ended/end the login of a user (for *)',
    'It was continued in a browser other than the one in which it began.',
  ),
  'agent.reuse': byService(
    AGENT,
    'ended/end a connection with copied tokens of an agent *',
    'A code or refresh token was used again.',
  ),
  'agent.disconnect': by('A user, an API client, one of its users or the agent')(
    AGENT,
    'ended/end a connection of an agent *',
  ),
  'agent.settings_update': byUser(
    AGENT,
    'changed/change the settings for agents',
    'They say which agents may log in, and where users log in.',
  ),
  'agent.register': byUser(AGENT, 'registered/register an agent (named *)'),
  'agent.remove': byUser(AGENT, 'removed/remove a registered agent (named *)'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof AGENT_ACTIONS, never> {}
}

export const AGENT_PERMISSIONS = dashboardPermissions({
  listAgentConnections: {},
  logInAsTestUser: { role: 'member', action: 'user_login.complete' },
  disconnectAgent: { role: 'member', action: 'agent.disconnect' },
  getAgentSettings: { role: 'member' },
  updateAgentSettings: { ...RECENT_ADMIN, action: 'agent.settings_update' },
  createAgent: { ...RECENT_ADMIN, action: 'agent.register' },
  deleteAgent: { ...RECENT_ADMIN, action: 'agent.remove' },
});

menuEntries({
  label: 'Agents',
  icon: 'bot',
  path: 'agents',
  permission: AGENT_PERMISSIONS.listAgentConnections,
  group: 'Activity',
  place: 50,
  words: 'ai mcp assistant connector',
});

const CONNECTION_ID = text('ID of the connection, as in `GET /agent-connections`.');
const EXAMPLE_CONNECTION_ID = 'c2f0a9d4-5b1e-4d3c-8f7a-6e5d4c3b2a19';
const CONNECTED_AGENT = named(
  'ConnectedAgent',
  z.object({
    name: text('What the agent calls itself.'),
    host: text('The host that the user was returned to.'),
  }),
  'The agent.',
);
const EXAMPLE_AGENT = { name: 'Example Agent', host: 'agent.example.com' };

const AGENT_EVENTS = webhookEvents({
  AGENT_CONNECTED: {
    variant: 'user',
    description: 'The user has connected an agent, which may act for the user from now on.',
    data: z.object({ connection_id: CONNECTION_ID, agent: CONNECTED_AGENT }).describe(WITH_DATA),
    example: { connection_id: EXAMPLE_CONNECTION_ID, agent: EXAMPLE_AGENT },
  },
  AGENT_DISCONNECTED: {
    variant: 'user',
    description:
      'A connected agent may no longer act for the user: you, the dashboard, the user or the agent ended the connection, or a ' +
      'token was used twice.',
    data: z.object({ connection_id: CONNECTION_ID, agent: CONNECTED_AGENT }).describe(WITH_DATA),
    example: { connection_id: EXAMPLE_CONNECTION_ID, agent: EXAMPLE_AGENT },
  },
});
type AgentEvents = typeof AGENT_EVENTS;

declare module '../../infrastructure/event-catalog/index.js' {
  interface WebhookEvents extends AgentEvents {}
}
