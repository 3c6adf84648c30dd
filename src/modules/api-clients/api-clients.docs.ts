import { RECENT_LOGIN_MAX_AGE } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { withMessages, uuidParameter, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { MINUTE } from '../../infrastructure/time/index.js';
import {
  ApiClientResponse,
  ApiSecretResponse,
  EXAMPLE_CLIENT_ID,
  RotateSecretRequest,
  UpdateClientRequest,
} from './api-clients.dto.js';
import { API_CLIENT_NOT_FOUND, RotationInProgressError } from './api-clients.service.js';

const ID = {
  client_id: uuidParameter('ClientIdParameter', 'The `client_id` of the client.', EXAMPLE_CLIENT_ID),
};
const RECENT_LOGIN = `Available to admins and owners who logged in within the last ${RECENT_LOGIN_MAX_AGE / MINUTE} minutes.`;

export const LIST_CLIENTS: OperationDocument = {
  operationId: 'listApiClients',
  summary: 'List API clients',
  description:
    'Returns the API clients of your organization, one per environment, and the state of their secret rotation, but ' +
    'never the secrets. Use it to find a `client_id` and to see whether a rotation is in progress. Available to every ' +
    'user.',
  response: [ApiClientResponse],
  responseDescription: 'All clients of the organization.',
  errors: [],
};

export const UPDATE_CLIENT: OperationDocument = {
  operationId: 'updateApiClient',
  summary: 'Name an API client',
  description:
    'Gives a client a name. Use it so that users recognize the client when they approve a device. Available to admins ' +
    'and owners. Audited as `client.update` only if something changes.',
  pathParameters: ID,
  body: UpdateClientRequest,
  response: ApiClientResponse,
  responseDescription: 'The client with its new name.',
  errors: [API_CLIENT_NOT_FOUND],
};

export const VIEW_SECRET: OperationDocument = {
  operationId: 'viewApiSecret',
  summary: 'View an API secret',
  description:
    'Returns the newest secret of a client. Use it to set up a program or a webhook receiver. ' +
    `${RECENT_LOGIN} Audited as \`secret.view\`.`,
  pathParameters: ID,
  response: ApiSecretResponse,
  responseDescription: 'The secret.',
  errors: [API_CLIENT_NOT_FOUND],
};

export const ROTATE_SECRET: OperationDocument = {
  operationId: 'rotateApiSecret',
  summary: 'Rotate an API secret',
  description:
    'Issues a new secret. Use it regularly, and with an overlap of 0 hours after a leak. The previous secret is ' +
    'accepted until the overlap ends. Until then, or until you activate the new secret, `Service-Signature` is signed ' +
    'with the previous secret. `webhook-signature` contains a signature with each secret. Only one rotation can be in ' +
    'progress; an overlap of 0 hours ends another rotation immediately. ' +
    `${RECENT_LOGIN} Audited as \`secret.rotate\`.`,
  pathParameters: ID,
  body: RotateSecretRequest,
  response: ApiSecretResponse,
  responseDescription: 'The new secret.',
  errors: [withMessages(INVALID_FIELD, RotationInProgressError.sentence), API_CLIENT_NOT_FOUND],
};

export const ACTIVATE_SECRET: OperationDocument = {
  operationId: 'activateApiSecret',
  summary: 'Sign webhooks with the newest secret',
  description:
    'Starts to sign webhooks with the newest secret. The previous secret is still accepted until the overlap ends. Use ' +
    'it when your receivers have the new secret. Repeated requests change nothing. ' +
    `${RECENT_LOGIN} Audited as \`secret.rotate\` only if something changes.`,
  pathParameters: ID,
  response: ApiClientResponse,
  responseDescription: 'The client, which signs with its newest secret.',
  responseExample: { signing_secret_version: 2 },
  errors: [API_CLIENT_NOT_FOUND],
};
