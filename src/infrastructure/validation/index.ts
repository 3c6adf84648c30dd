export { Constraint, HasValidContents, provideConstraints, siblingOf, validateItems } from './constraints.js';
export { Field, maxLengthOf, type ConditionalPresence } from './field.js';
export {
  ArrayField,
  BooleanField,
  EmailField,
  EnumField,
  ENVIRONMENT,
  EnvironmentField,
  ExternalUserIdField,
  IntegerField,
  MAX_EXTERNAL_USER_ID_LENGTH,
  MAX_URL_LENGTH,
  NOT_BLANK,
  ObjectField,
  PhoneNumberField,
  TextField,
  TimestampField,
  UrlField,
  UuidField,
} from './fields.js';
export { MESSAGES, withMessage } from './messages.js';
export {
  ReportAllMissingFields,
  RequestValidationPipe,
  validated,
  validatedQuery,
} from './request-validation.pipe.js';
export { firstCharacters, hasAtMostCharacters, isMissing, validateName, validateText } from './text.js';
export { isTimestamp } from './timestamp.js';
export { conditionsOf, exampleMessages, hasFields } from './validations.js';
