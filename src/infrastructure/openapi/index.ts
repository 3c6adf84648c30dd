export { withMessages } from './api-errors.js';
export { buildDocument, serveDocument } from './document.js';
export { DocumentedOperation, type OperationDocument } from './operation.js';
