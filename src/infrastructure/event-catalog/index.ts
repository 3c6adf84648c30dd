export * from './event-catalog.js';
export * from './session-metadata.js';
