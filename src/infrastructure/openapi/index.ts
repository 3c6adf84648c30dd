export type { Components } from './components.js';
export {
  ERROR_CODE,
  ErrorResponse,
  withExamples,
  withMessages,
  withSharedMessages,
  type ErrorBodyDocument,
} from './error-responses.js';
export { buildDocument, type WebhookDocuments } from './document.js';
export { toVersion30 } from './version-3.0.js';
export {
  DocumentedOperation,
  resolveDescription,
  Topic,
  uuidParameter,
  type BodyVariants,
  type ConfigurationOf,
  type OperationDocument,
} from './operation.js';
export {
  BooleanProperty,
  ConstantProperty,
  EnumProperty,
  exampleOf,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from './properties.js';
