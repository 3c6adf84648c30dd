export * from './request-class.js';
export * from './response-class.js';
