export { componentOf } from './components.js';
export { withExamples, withMessages, withSharedMessages, type ErrorBodyDocument } from './api-errors.js';
export { ErrorResponse } from './error-response.js';
export { buildDocument, type WebhookDocuments } from './document.js';
export { toVersion30 } from './version-3.0.js';
export { Topic } from './topic.js';
export {
  resolveDescription,
  DocumentedOperation,
  type ConfigurationOf,
  type OperationDocument,
} from './operation.js';
export {
  BooleanProperty,
  ConstantProperty,
  EnumProperty,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from './properties.js';
