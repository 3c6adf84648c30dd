import { ErrorKind } from './api-error.js';

export const INVALID_FIELD = new ErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  when: 'A field or parameter is missing, has the wrong type or is out of bounds, or the body is not a JSON object. `null` and blank text count as missing.',
  message: 'The external user id field is required.',
});

export const ENVIRONMENT_MISMATCH = new ErrorKind(403, 'INVALID_REQUEST', 'ENVIRONMENT_MISMATCH', {
  when: 'The `environment` does not match the access token, or the operation does not exist in the environment of the credentials.',
  message: 'The environment must be that of the access token.',
});

export const NO_ACCESS = new ErrorKind(403, 'INVALID_REQUEST', 'NO_ACCESS', {
  when: 'The client is not enabled for the operation, a sandbox operation was requested with production credentials, or the request came from another website or from an origin that is not allowed.',
  message: 'This client is not enabled for the operation. Contact support to arrange access.',
});

export const TOO_MANY_REQUESTS = new ErrorKind(429, 'RATE_LIMIT_ERROR', 'TOO_MANY_REQUESTS', {
  when: 'The client or agent exceeded its rate limit (platform API, agent connector), or too many wrong credentials came from its IP address.',
  message: 'Too many requests. Retry after the time in the Retry-After header.',
});

export const RATE_LIMIT_EXCEEDED = new ErrorKind(429, 'RATE_LIMIT_ERROR', 'RATE_LIMIT_EXCEEDED', {
  when: 'The user, client or IP address exceeded the rate limit (dashboard API and careers).',
  message: 'Too many requests. Retry after the time in the Retry-After header.',
});

export const NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'No operation has this path.',
  message: 'No operation has this path.',
});

export const METHOD_NOT_ALLOWED = new ErrorKind(405, 'INVALID_REQUEST', 'METHOD_NOT_ALLOWED', {
  when: 'The path does not support this method; the Allow header lists the methods that it supports.',
  message: 'The method is not allowed for this path. Allowed methods: GET, HEAD.',
});

/** @param limit bytes */
export function bodyTooLarge(limit: number): string {
  return `The request body must not be larger than ${limit} bytes.`;
}

export const PAYLOAD_TOO_LARGE = new ErrorKind(413, 'INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', {
  when: 'The request body is larger than 512 KiB, 4 MiB for a batch of events, 256 KiB without credentials, or 16 KiB for a form.',
  message: bodyTooLarge(524_288),
});

export const UNSUPPORTED_MEDIA_TYPE = new ErrorKind(415, 'INVALID_REQUEST', 'UNSUPPORTED_MEDIA_TYPE', {
  when: 'The operation does not support the media type, character set or encoding of the request body.',
  message: 'The request body must be application/json in UTF-8.',
});

export const INTERNAL_ERROR = new ErrorKind(500, 'API_ERROR', 'INTERNAL_ERROR', {
  when: 'The service failed. Quote the X-Request-Id header when you report the problem.',
  message: 'An unexpected error occurred. Quote the X-Request-Id header when reporting it.',
});

export const SERVICE_UNAVAILABLE = new ErrorKind(503, 'API_ERROR', 'SERVICE_UNAVAILABLE', {
  when: 'The database is unreachable or the service is shutting down; retry after `Retry-After`.',
  message: 'The service is temporarily unavailable. Retry after the time in the Retry-After header.',
});
