import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import {
  uuidParameter,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { INVALID_REDIRECT_URI } from '../agents/agent-errors.js';
import {
  AgentResponse,
  AgentSettingsResponse,
  CreateAgentRequest,
  EXAMPLE_AGENT_ID,
  UpdateAgentSettingsRequest,
} from './agent-settings.dto.js';
import { AGENT_NOT_FOUND, INSECURE_LOGIN_URL, TOO_MANY_AGENTS } from './agent-settings.service.js';

export const GET_AGENT_SETTINGS: OperationDocument = {
  operationId: 'getAgentSettings',
  summary: 'Get agent settings',
  description:
    'Returns which agents your users can connect in an environment, where they log in, and the address to paste into an agent. ' +
    'Available to members, admins and owners.',
  response: AgentSettingsResponse,
  responseDescription: 'The settings.',
  errors: [],
};

export const UPDATE_AGENT_SETTINGS: OperationDocument = {
  operationId: 'updateAgentSettings',
  summary: 'Update agent settings',
  description:
    'Replaces the settings of an environment. In production, no agent can log in until you allow it. Connections of agents that ' +
    'are no longer allowed stay; disconnect them if you want to end them. While the setting is `off`, no agent gets further ' +
    'tokens. Available to admins and owners. Audited as `agent.settings_update`.',
  body: UpdateAgentSettingsRequest,
  response: AgentSettingsResponse,
  responseDescription: 'The new settings.',
  errors: [withMessages(INVALID_FIELD, INSECURE_LOGIN_URL)],
};

export const CREATE_AGENT: OperationDocument = {
  operationId: 'createAgent',
  summary: 'Register an agent in advance',
  description:
    'Registers an agent that can neither publish a metadata document nor register itself. Configure the returned ID in the ' +
    'agent as its client ID, without a secret. Available to admins and owners. Audited as `agent.register`.',
  body: CreateAgentRequest,
  response: AgentResponse,
  responseDescription: 'The agent is registered.',
  errors: [withMessages(INVALID_FIELD, INVALID_REDIRECT_URI.message, TOO_MANY_AGENTS)],
};

export const DELETE_AGENT: OperationDocument = {
  operationId: 'deleteAgent',
  summary: 'Remove a registered agent',
  description:
    'Removes an agent that you have registered, and ends its connections. Available to admins and owners. Audited as ' +
    '`agent.remove`.',
  pathParameters: {
    id: uuidParameter('RegisteredAgentIdParameter', 'The `id` of the agent.', EXAMPLE_AGENT_ID),
  },
  response: AgentResponse,
  responseDescription: 'The removed agent.',
  errors: [withMessages(AGENT_NOT_FOUND, AGENT_NOT_FOUND.message)],
};
