export * from './attempt-limits.repository.js';
export * from './failed-credentials.js';
export * from './rate-limiters.js';
export * from './rate-limit.configuration.js';
export * from './rate-limiting.module.js';
