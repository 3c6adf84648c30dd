import type { ValidationOptions } from 'class-validator';

/** Returns the name of a field as error messages show it. */
export function displayNameOf(property: string): string {
  return property.replaceAll('_', ' ');
}

/** Messages about one field (specification, "Messages"). */
export const MESSAGES = {
  required: (field: string) => `The ${field} field is required.`,
  string: (field: string) => `The ${field} field must be a string.`,
  storable: (field: string) => `The ${field} field must not contain null characters or unpaired surrogates.`,
  maxCharacters: (field: string, limit: number) =>
    `The ${field} field must not be greater than ${limit} characters.`,
  integer: (field: string) => `The ${field} field must be an integer.`,
  min: (field: string, limit: number) => `The ${field} field must be at least ${limit}.`,
  max: (field: string, limit: number) => `The ${field} field must not be greater than ${limit}.`,
  boolean: (field: string) => `The ${field} field must be true or false.`,
  selected: (field: string, values: readonly string[]) =>
    `The selected ${field} is invalid. Allowed values: ${values.join(', ')}.`,
  email: (field: string) => `The ${field} field must be a valid email address.`,
  url: (field: string) => `The ${field} field must be a valid http or https URL.`,
  publicUrl: (field: string) =>
    `The ${field} field must be a public URL: its address is private or reserved.`,
  format: (field: string) => `The ${field} format is invalid.`,
  phoneNumber: (field: string) => `The ${field} format is invalid. Use the format +12125550123.`,
  uuid: (field: string) => `The ${field} field must be a UUID.`,
  timestamp: (field: string) => `The ${field} field must be a date and time such as 2026-01-31T08:15:30Z.`,
  object: (field: string) => `The ${field} field must be an object.`,
  array: (field: string) => `The ${field} field must be an array.`,
  maxItems: (field: string, limit: number) => `The ${field} field must not have more than ${limit} items.`,
  maxKeys: (field: string, limit: number) => `The ${field} field must not have more than ${limit} keys.`,
  unknownParameter: (name: string, meant?: string) =>
    `The query parameter${name && ` ${name}`} is not known.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
  misspelledField: (name: string, meant: string) =>
    `The field${name && ` ${name}`} is not known. Did you mean ${meant}?`,
  blankParameter: (name: string) => `The query parameter ${name} must not be blank.`,
  repeatedParameter: (name: string) => `The query parameter${name && ` ${name}`} is given more than once.`,
};

/** Gives a class-validator decorator one of the messages, with its first constraint as the limit. */
export function withMessage(message: (field: string, limit: never) => string): ValidationOptions {
  return {
    message: ({ property, constraints }) => message(displayNameOf(property), constraints?.[0] as never),
  };
}
