export * from './check-data-directory.js';
export * from './data-directory.module.js';
