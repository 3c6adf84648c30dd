export { canonicalJson } from './canonical-json.js';
export { IdempotencyModule } from './idempotency.module.js';
export {
  Idempotent,
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY_PARAMETER,
  IDEMPOTENCY_KEY_REUSED,
  IdempotencyKeyHeader,
  IdempotentRequests,
  MAX_KEY_LENGTH,
  type IdempotentRequest,
} from './idempotent-requests.js';
