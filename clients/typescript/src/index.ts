export { ApiError, ConnectionError } from './errors.js';
export { MerchantConnectivity } from './merchant-connectivity.js';
export { Pages, type Page } from './pages.js';
export type * from './schemas.js';
export type { ClientOptions, RequestOptions, Secret } from './transport.js';
export { SignatureError, webhooks, type VerifyOptions, type WebhookHeaders } from './webhooks.js';
