import { uuidParameter } from '../../infrastructure/openapi/index.js';

export const EXAMPLE_RESOURCE = 'https://agents.example.com/mcp/19b11f7c-4c8e-49bf-853e-3cea2462349f';

export const CLIENT_ID_PARAMETER = {
  client_id: uuidParameter(
    'AgentIssuerIdParameter',
    'The ID of the API client whose users connect agents.',
    '19b11f7c-4c8e-49bf-853e-3cea2462349f',
  ),
};
