export * from './components.js';
export * from './error-responses.js';
export * from './document.js';
export * from './version-3.0.js';
export * from './operation.js';
export * from './properties.js';
