import { ErrorKind } from '../errors/index.js';

export const INVALID_API_KEYS = new ErrorKind(401, 'INVALID_INPUT', 'INVALID_API_KEYS', {
  when: 'The Basic credentials are missing, malformed, unknown or wrong. They are also refused if the API key has ended, has expired or is not accepted from this address, and if the secret only signs webhooks.',
  message: 'Invalid client_id or secret provided.',
});

export const INVALID_ACCESS_TOKEN = new ErrorKind(401, 'INVALID_INPUT', 'INVALID_ACCESS_TOKEN', {
  when: 'The access, service or MCP token is missing, malformed, expired or revoked, or was issued for another audience, or the dashboard session has ended or its login is not recent enough.',
  message: 'The access token is not valid.',
});

export const INSUFFICIENT_SCOPE = new ErrorKind(403, 'INVALID_REQUEST', 'INSUFFICIENT_SCOPE', {
  when: 'The API key, access token or service token lacks the scope of the operation, or the operation requires a dashboard login instead of an access token.',
  message: 'The API key lacks the scope webhook_endpoints:write.',
});

export const INSUFFICIENT_ROLE = new ErrorKind(403, 'INVALID_REQUEST', 'INSUFFICIENT_ROLE', {
  when: 'The role of the dashboard user does not allow the operation.',
  message: 'Your role does not allow this. Ask an owner or an admin of your organization.',
});
