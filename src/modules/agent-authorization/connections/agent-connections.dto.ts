import { ApiSchema } from '@nestjs/swagger';
import { AGENT_SCOPES, type AgentScope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { INVALID_CURSOR_FORMAT } from '../../../infrastructure/crypto/index.js';
import {
  EnumProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  uuidParameter,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import {
  CursorField,
  DEFAULT_PAGE_SIZE,
  PageOf,
  PageSizeField,
} from '../../../infrastructure/paging/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { ENVIRONMENT_ERRORS } from '../../../infrastructure/surfaces/index.js';
import {
  EnvironmentField,
  MAX_EXTERNAL_USER_ID_LENGTH,
  TextField,
} from '../../../infrastructure/validation/index.js';
import { AGENT_CONNECTION_NOT_FOUND } from '../agent-authorization-errors.js';

const AGENT_SCOPE = enumeration('AgentScope', AGENT_SCOPES, 'What an agent may do for a user.');
const EXAMPLE_CONNECTION_ID = 'c2f0a9d4-5b1e-4d3c-8f7a-6e5d4c3b2a19';
const MAX_HOST_LENGTH = 253;

export class ListAgentConnectionsQuery {
  @EnvironmentField({ in: 'query', required: false, description: 'That of the client, by default.' })
  environment?: PlatformEnvironment;

  @TextField({
    in: 'query',
    required: false,
    max: MAX_EXTERNAL_USER_ID_LENGTH,
    description: 'Only connections of this user.',
    example: 'user-8f3a',
  })
  external_user_id?: string;

  @TextField({
    in: 'query',
    required: false,
    max: MAX_HOST_LENGTH,
    description: 'Only connections of agents with this host.',
    example: 'agent.example.com',
  })
  host?: string;

  @PageSizeField('Maximum number of connections in the page.')
  limit: number = DEFAULT_PAGE_SIZE;

  @CursorField('The `next_cursor` of the previous page, for the same user and host.')
  cursor?: string;
}

/** An agent that a user has connected. */
@ApiSchema({ description: 'An agent.' })
export class ConnectedAgentResponse {
  @TextProperty('What the agent calls itself.', 'Example Agent')
  name!: string;

  @TextProperty('The host that the user was returned to.', 'agent.example.com')
  host!: string;
}

export class AgentConnectionResponse {
  @UuidProperty('ID of the connection.', EXAMPLE_CONNECTION_ID)
  id!: string;

  @TextProperty('Your own identifier for the user.', 'user-8f3a')
  external_user_id!: string;

  @ObjectProperty(ConnectedAgentResponse, 'The agent.')
  agent!: ConnectedAgentResponse;

  @EnumProperty(AGENT_SCOPE, 'What the user has allowed.', AGENT_SCOPES, { isArray: true })
  scopes!: readonly AgentScope[];

  @TimestampProperty('When the user connected the agent.')
  created_at!: Date;

  @TimestampProperty('When the agent last got an access token, which is valid for an hour.')
  last_used_at!: Date;

  @TimestampProperty('When the connection ends if the agent does not use it.')
  expires_at!: Date;
}

export class AgentConnectionListResponse extends PageOf(
  AgentConnectionResponse,
  'The connections, the newest first.',
) {}

export const LIST_AGENT_CONNECTIONS: OperationDocument = {
  operationId: 'listAgentConnections',
  summary: 'List agent connections',
  description:
    'Returns the agents that your users have connected, the newest first. Use it to show users which agents act for them.',
  response: AgentConnectionListResponse,
  responseDescription: 'A page of connections.',
  errors: [INVALID_CURSOR_FORMAT, ...ENVIRONMENT_ERRORS],
};

export const DISCONNECT_AGENT: OperationDocument = {
  operationId: 'disconnectAgent',
  action: 'agent.disconnect',
  summary: 'Disconnect agent',
  description:
    'Ends the connection of an agent: its tokens stop working immediately, and its sign-in links are cancelled. Publishes ' +
    '`AGENT_DISCONNECTED`.',
  pathParameters: {
    id: uuidParameter('AgentConnectionIdParameter', 'The `id` of the connection.', EXAMPLE_CONNECTION_ID),
  },
  response: AgentConnectionResponse,
  responseDescription: 'The connection that ended.',
  errors: [withMessages(AGENT_CONNECTION_NOT_FOUND, AGENT_CONNECTION_NOT_FOUND.message)],
};
