export * from './api-error.js';
export * from './common-errors.js';
