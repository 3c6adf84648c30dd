export { LoggingConfiguration } from './logging.configuration.js';
export { maskedUrl } from './url-masking.js';
export { ServiceLogger } from './service-logger.js';
