export * from './bounded-cache.js';
export * from './bounded-key.js';
