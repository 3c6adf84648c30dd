export { Constraint, IsValidInside, provideConstraints, siblingOf, validateItems } from './constraints.js';
export { Field, type ConditionalPresence } from './field.js';
export { conditionsOf } from './validations.js';
export {
  ArrayField,
  BooleanField,
  EmailField,
  EnumField,
  ENVIRONMENT,
  EnvironmentField,
  EXTERNAL_USER_ID_LENGTH,
  ExternalUserIdField,
  IntegerField,
  NOT_BLANK,
  ObjectField,
  PhoneNumberField,
  TextField,
  TimestampField,
  UrlField,
  UuidField,
} from './fields.js';
export { exampleMessages, hasFields } from './example-messages.js';
export { MESSAGES, withMessage } from './messages.js';
export { ReportAllMissingFields } from './missing-fields.js';
export { RequestValidationPipe, validated, validatedQuery } from './request-validation.pipe.js';
export { isMissing, validateText } from './text.js';
export { isTimestamp } from './timestamp.js';
export { validateName } from './validate-name.js';
