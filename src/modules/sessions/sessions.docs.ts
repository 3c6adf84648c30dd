import { TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import {
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY_PARAMETER,
  IDEMPOTENCY_REPLAYED_HEADER,
} from '../../infrastructure/idempotency/index.js';
import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { MINUTE } from '../../infrastructure/time/index.js';
import { EXTEND_NOT_SUPPORTED, SESSION_LIFETIME, SESSION_NOT_FOUND } from './sessions.service.js';
import { SessionsConfiguration } from './sessions.configuration.js';
import {
  CreateSessionRequest,
  ExtendSessionRequest,
  OpenSessionRequest,
  OpenedSessionResponse,
  SessionResponse,
} from './sessions.dto.js';

const MINUTES = SESSION_LIFETIME / MINUTE;

export const CREATE_SESSION: OperationDocument = {
  operationId: 'createSession',
  summary: 'Create session',
  description:
    `Creates a session for one of your users. It is valid for ${MINUTES} minutes. Call this operation from your ` +
    'backend when a user is about to link a merchant or switch a card, and pass the ID of the session to the client ' +
    'SDK. Every webhook of the session returns the metadata that you attach.',
  headerParameters: IDEMPOTENCY_KEY_PARAMETER,
  responseHeaders: IDEMPOTENCY_REPLAYED_HEADER,
  body: CreateSessionRequest,
  response: SessionResponse,
  responseDescription: 'The session was created.',
  errors: IDEMPOTENCY_ERRORS,
};

export const EXTEND_SESSION: OperationDocument = {
  operationId: 'extendSession',
  summary: 'Extend session',
  description:
    `Adds ${MINUTES} minutes to the expiry of a session that has not expired. Call this operation while the user is still ` +
    'in the SDK and the session is about to expire. After it has expired, create a new session.',
  body: ExtendSessionRequest,
  response: OpenedSessionResponse,
  responseDescription: 'The session with its new expiry.',
  errors: [EXTEND_NOT_SUPPORTED, SESSION_NOT_FOUND],
};

export const OPEN_SESSION: OperationDocument = {
  operationId: 'openSession',
  summary: 'Open session',
  description: (configurationOf) =>
    'Opens a session from the client SDK. The only credential is the ID of a session that has not expired. The ' +
    'request can add metadata: values given here override those with the same key, and the limits apply to all ' +
    'metadata of the session together. The request appears in your request logs. Limit: ' +
    `${configurationOf(SessionsConfiguration).opensPerMinute} requests per minute per IP address.`,
  body: OpenSessionRequest,
  response: OpenedSessionResponse,
  responseDescription: 'The session is open.',
  errors: [SESSION_NOT_FOUND, TOO_MANY_REQUESTS],
};
