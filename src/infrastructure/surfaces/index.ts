export * from './json-rpc.js';
export * from './operations.js';
export * from './organization-queue.interceptor.js';
export * from './rate-limit.guard.js';
