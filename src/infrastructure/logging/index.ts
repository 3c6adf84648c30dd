export { LoggingConfiguration } from './logging.configuration.js';
export { printableCell, printableJson, printableText } from './printable-text.js';
export { SECRET_PATTERN } from './redaction.js';
export { maskedText } from './text-masking.js';
export { maskedUrl } from './url-masking.js';
export { ServiceLogger } from './service-logger.js';
