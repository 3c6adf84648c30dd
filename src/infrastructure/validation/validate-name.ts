import { OperatorError } from '../errors/index.js';

const NAME_LENGTH = 256;

/**
 * Validates a name that an operator entered: 1 to 256 characters.
 *
 * @param owner what the name belongs to, as in the message, such as `a user`
 * @throws OperatorError if the name is blank or too long
 */
export function validateName(owner: string, name: string): void {
  if (name.trim() !== '' && [...name].length <= NAME_LENGTH) return;
  throw new OperatorError(`The name of ${owner} must have 1 to ${NAME_LENGTH} characters.`);
}
