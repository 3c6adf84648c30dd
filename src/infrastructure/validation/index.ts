export { Field, type FieldOptions } from './field.js';
export { Environment, EXTERNAL_USER_ID_LENGTH, ExternalUserId, IntegerInQuery, TimeBound } from './fields.js';
export { NorthAmericanPhoneNumber } from './north-american-phone-number.js';
export { RequestValidationPipe } from './request-validation.pipe.js';
export { validateName } from './validate-name.js';
export { firstViolation, isMissing, required, wordsOf, type Rule } from './rule.js';
export * from './rules.js';
