export * from './idempotent-requests.js';
export * from './idempotency-errors.js';
export * from './idempotency.module.js';
