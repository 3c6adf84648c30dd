export { ApiError, ConnectionError } from './errors.js';
export { followEvents } from './event-feed.js';
export type { Attempt, Exchange, RateLimit } from './exchange.js';
export { MerchantConnectivity } from './merchant-connectivity.js';
export { OPERATIONS, type Operation } from './operations.js';
export { Pages, type Page } from './pages.js';
export type * from './schemas.js';
export type { ClientOptions, OperationRequest, RequestOptions, Secret } from './transport.js';
export {
  SignatureError,
  webhooks,
  type SignOptions,
  type VerifyOptions,
  type WebhookHeaders,
} from './webhooks.js';
