import { ErrorKind } from '../../infrastructure/errors/index.js';

export const IDEMPOTENCY_KEY_REUSED = new ErrorKind(409, 'INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED', {
  when: 'The client already has an event with this `idempotency_key` and different content.',
  message: 'The idempotency_key was used for an event with different content.',
});
