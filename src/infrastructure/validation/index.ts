export * from './constraints.js';
export * from './field.js';
export * from './fields.js';
export * from './messages.js';
export * from './request-validation.pipe.js';
export * from './text.js';
export * from './timestamp.js';
export * from './validations.js';
