export type { Components } from './components.js';
export { withExamples, withMessages, withSharedMessages, type ErrorBodyDocument } from './error-responses.js';
export { ErrorResponse } from './error-responses.js';
export { buildDocument, type WebhookDocuments } from './document.js';
export { toVersion30 } from './version-3.0.js';
export {
  resolveDescription,
  Topic,
  DocumentedOperation,
  uuidParameter,
  type BodyVariants,
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
