export {
  canonicalJson,
  IDEMPOTENCY_ERRORS,
  IDEMPOTENCY_KEY_PARAMETER,
  IDEMPOTENCY_KEY_REUSED,
  IDEMPOTENCY_REPLAYED_HEADER,
  IdempotencyKeyHeader,
  Idempotent,
  IdempotentRequests,
  KEY_SCHEMA,
  MAX_KEY_LENGTH,
  type IdempotentRequest,
} from './idempotent-requests.js';
export { IdempotencyModule } from './idempotency.module.js';
