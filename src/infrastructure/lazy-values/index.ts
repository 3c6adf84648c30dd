export * from './lazy-values.js';
