export * from './idempotent-requests.js';
export * from './idempotency.module.js';
