export { LoggingConfiguration } from './logging.configuration.js';
export { printableCell, printableJson, printableText } from './printable-text.js';
export { maskedText, SECRET_PATTERN } from './redaction.js';
export { maskedUrl } from './url-masking.js';
export { ServiceLogger } from './service-logger.js';
