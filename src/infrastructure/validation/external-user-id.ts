import type { FieldOptions } from './field.js';
import { TextField } from './fields.js';

/** Characters. The columns that store such an identifier have this length, too. */
export const MAX_EXTERNAL_USER_ID_LENGTH = 256;

/** The client's own identifier for one of its users. */
export function ExternalUserIdField(options: Pick<FieldOptions, 'required' | 'in'> = {}): PropertyDecorator {
  return TextField({
    ...options,
    max: MAX_EXTERNAL_USER_ID_LENGTH,
    description: 'Your own identifier for the user.',
    example: 'user-8f3a',
  });
}
