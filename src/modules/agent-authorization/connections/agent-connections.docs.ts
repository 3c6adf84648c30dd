import { INVALID_CURSOR_FORMAT } from '../../../infrastructure/crypto/index.js';
import { ErrorKind } from '../../../infrastructure/errors/index.js';
import {
  uuidParameter,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { ENVIRONMENT_ERRORS } from '../../../infrastructure/surfaces/index.js';
import {
  AgentConnectionListResponse,
  AgentConnectionResponse,
  EXAMPLE_CONNECTION_ID,
} from './agent-connections.dto.js';

export const AGENT_CONNECTION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'No agent is connected with this ID. The connection may have ended.',
  message: 'There is no agent connection with this ID.',
});

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
