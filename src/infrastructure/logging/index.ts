export * from './service-logger.js';
export * from './printable-text.js';
export * from './redaction.js';
export * from './url-masking.js';
export * from './logging.configuration.js';
