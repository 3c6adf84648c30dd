export { countWith, createRequestClass, isScattered, skipRest } from './request-class.js';
export { createResponseClass, hasBody, isTooLongToDiscard } from './response-class.js';
