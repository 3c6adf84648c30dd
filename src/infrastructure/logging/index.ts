export { LoggingConfiguration } from './logging.configuration.js';
export { REDACTED_PROPERTIES, redactText } from './redaction.js';
export { ServiceLogger } from './service-logger.js';
