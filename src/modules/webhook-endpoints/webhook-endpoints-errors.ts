import { type ErrorCode, type ErrorDescription, ErrorKind } from '../../infrastructure/errors/index.js';
import { MAX_ENDPOINTS } from './webhook-endpoint.entity.js';

function kind(status: number, code: ErrorCode, description: ErrorDescription): ErrorKind {
  return new ErrorKind(status, 'WEBHOOK_ENDPOINT_ERROR', code, description);
}

export const WEBHOOK_ENDPOINT_NOT_FOUND = kind(404, 'WEBHOOK_ENDPOINT_NOT_FOUND', {
  when: 'There is no webhook endpoint with this ID, or it belongs to another organization.',
  message: 'There is no webhook endpoint with this ID.',
});

export const WEBHOOK_ENDPOINT_ALREADY_EXISTS = kind(409, 'WEBHOOK_ENDPOINT_ALREADY_EXISTS', {
  when: 'The environment already has a webhook endpoint with the same URL.',
  message: 'There is a webhook endpoint with this URL in this environment already.',
});

export const WEBHOOK_ENDPOINT_LIMIT_REACHED = kind(409, 'WEBHOOK_ENDPOINT_LIMIT_REACHED', {
  when: `The environment already has ${MAX_ENDPOINTS} webhook endpoints.`,
  message: `The environment already has the maximum of ${MAX_ENDPOINTS} webhook endpoints.`,
});

export const WEBHOOK_ENDPOINT_DISABLED = kind(409, 'WEBHOOK_ENDPOINT_DISABLED', {
  when: 'The webhook endpoint is disabled, because it failed for days.',
  message: 'The webhook endpoint is disabled. Change its status to enabled first.',
});

export const WEBHOOK_ENDPOINT_KEY_ROTATING = kind(409, 'WEBHOOK_ENDPOINT_KEY_ROTATING', {
  when: 'A rotation was requested while the previous key of the webhook endpoint still signs.',
  message:
    'A rotation is in progress: the previous key still signs. A rotation with an overlap of 0 hours makes a third key, and both others stop signing at once.',
});

declare module '../../infrastructure/errors/index.js' {
  interface ErrorCodes {
    WEBHOOK_ENDPOINT_KEY_ROTATING: never;
  }
}
