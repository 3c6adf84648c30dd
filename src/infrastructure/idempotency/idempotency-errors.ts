import { ErrorKind } from '../errors/index.js';

export const IDEMPOTENCY_KEY_REUSED = new ErrorKind(409, 'INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED', {
  when: 'The idempotency key was used before, for a request with different content.',
  message: 'The idempotency key was used for a request with different content. Use another key.',
});

export const ONGOING_OPERATION = new ErrorKind(409, 'INVALID_REQUEST', 'ONGOING_OPERATION', {
  when: 'A request with the same `Idempotency-Key` is still being processed.',
  message: 'A request with this idempotency key is still being processed. Retry after a second.',
});
