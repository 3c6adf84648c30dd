export { LoggingConfiguration } from './logging.configuration.js';
export { ServiceLogger } from './service-logger.js';
