export * from './bounded-cache.js';
export * from './bounded-key.js';
export * from './cached-value.js';
