import { withSharedMessages } from '../../../infrastructure/openapi/index.js';
import { OAuthErrorKind } from '../../oauth/index.js';

export const INVALID_REDIRECT_URI = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_redirect_uri',
  when: 'No redirect address can be used (`invalid_redirect_uri`).',
  message:
    'Each redirect URI must be an https URL, an http URL of 127.0.0.1, [::1] or localhost, or a URL with the scheme of an app, such as vscode, without a fragment and with at most 2000 characters.',
});

export const INVALID_CLIENT_METADATA = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_client_metadata',
  when: 'A field of the registration is missing or has another type (`invalid_client_metadata`).',
  message: 'The redirect uris field is required.',
});

export const AGENTS_NOT_ALLOWED = new OAuthErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  oauthCode: 'invalid_request',
  when: 'There is no API client with this ID, or its organization does not allow agents to log in (`invalid_request`).',
  message: 'Agents cannot log in at this address.',
});

export const INVALID_TARGET = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_target',
  when: 'The `resource` is another address than that of the API client (`invalid_target`).',
  message: 'The resource field must be the address of the agent connector that the issuer belongs to.',
});

/** The same for the API document, in which several errors are called `invalid_request`. */
export const NOT_ALLOWED = withSharedMessages(
  'AgentsNotAllowed',
  AGENTS_NOT_ALLOWED,
  AGENTS_NOT_ALLOWED.message,
);
