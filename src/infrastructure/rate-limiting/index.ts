export * from './attempt-limits.repository.js';
export { subjectAtAddress } from './bounded-memory.js';
export * from './failed-credentials.js';
export * from './rate-limiters.js';
export * from './rate-limit.configuration.js';
export * from './rate-limiting.module.js';
