import { Field, type FieldOptions } from './field.js';
import { isString, maximumCharacters } from './rules.js';

export const EXTERNAL_USER_ID_LENGTH = 256;

/** The caller's own identifier for one of its users. */
export function ExternalUserId(options: Pick<FieldOptions, 'required'> = {}): PropertyDecorator {
  return Field({
    ...options,
    rules: [isString, maximumCharacters(EXTERNAL_USER_ID_LENGTH)],
    document: {
      type: String,
      description: 'Your own identifier for the user: at most 256 characters.',
      minLength: 1,
      maxLength: EXTERNAL_USER_ID_LENGTH,
      example: 'user-8f3a',
    },
  });
}
