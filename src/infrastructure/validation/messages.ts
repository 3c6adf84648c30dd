import type { ValidationError, ValidationOptions } from 'class-validator';
import { INVALID_FIELD, type ApiError, type FieldProblem, type ProblemRule } from '../errors/index.js';

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
  maxBytes: (field: string, limit: number) => `The ${field} field must not be greater than ${limit} bytes.`,
  integer: (field: string) => `The ${field} field must be an integer.`,
  min: (field: string, limit: number) => `The ${field} field must be at least ${limit}.`,
  max: (field: string, limit: number) => `The ${field} field must not be greater than ${limit}.`,
  boolean: (field: string) => `The ${field} field must be true or false.`,
  selected: (field: string, values: readonly string[]) =>
    `The selected ${field} is invalid. Allowed values: ${values.join(', ')}.`,
  unknown: (field: string) => `The selected ${field} is invalid.`,
  email: (field: string) => `The ${field} field must be a valid email address.`,
  url: (field: string) => `The ${field} field must be a valid http or https URL.`,
  publicUrl: (field: string) =>
    `The ${field} field must be a public URL: its address is private or reserved.`,
  format: (field: string) => `The ${field} format is invalid.`,
  phoneNumber: (field: string) => `The ${field} format is invalid. Use the format +12125550123.`,
  uuid: (field: string) => `The ${field} field must be a UUID.`,
  timestamp: (field: string) => `The ${field} field must be a date and time such as 2026-01-31T08:15:30Z.`,
  notAfter: (field: string, _limit: unknown, other: string) =>
    `The ${field} field must not be after the ${other} field.`,
  object: (field: string) => `The ${field} field must be an object.`,
  array: (field: string) => `The ${field} field must be an array.`,
  maxItems: (field: string, limit: number) => `The ${field} field must not have more than ${limit} items.`,
  maxKeys: (field: string, limit: number) => `The ${field} field must not have more than ${limit} keys.`,
  unknownParameter: (name: string, meant?: string) =>
    `The query parameter${name && ` ${name}`} is not known.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
  misspelledField: (name: string, meant: string) =>
    `The field${name && ` ${name}`} is not known. Did you mean ${meant}?`,
  blankParameter: (_field: string, name: string) => `The query parameter ${name} must not be blank.`,
  repeatedParameter: (_field: string, name: string) =>
    `The query parameter${name && ` ${name}`} is given more than once.`,
};

/**
 * Words a problem.
 *
 * @param nameOf what the text calls a field, or an item of it
 */
export function messageAbout(
  { field, rule, limit, other = '', item }: FieldProblem,
  nameOf: (field: string, item?: FieldProblem['item']) => string = displayNameOfItem,
): string {
  return rule(nameOf(field, item), limit as never, nameOf(other));
}

const displayNameOfItem = (field: string, item?: FieldProblem['item']): string =>
  item ? `${displayNameOf(field)}[${item.index}]` : displayNameOf(field);

/** Returns the error INVALID_FIELD about a problem. */
export function fieldError(problem: FieldProblem): ApiError {
  return INVALID_FIELD.error(messageAbout(problem), problem);
}

type Violation = Pick<ValidationError, 'property' | 'value'>;

/** The properties that this service adds to the violations of a constraint. */
interface ProblemContext {
  problemOf(violation: Violation): FieldProblem;
}

/** Says which problem the violation of a class-validator decorator is. */
export function withProblem(problemOf: ProblemContext['problemOf']): ValidationOptions {
  return {
    message: (violation) => messageAbout(problemOf(violation)),
    context: { problemOf } satisfies ProblemContext,
  };
}

/** Gives a class-validator decorator one of the messages. @param limit that the message states */
export function withMessage(rule: ProblemRule, limit?: unknown): ValidationOptions {
  return withProblem(({ property }) => ({ field: property, rule, limit }));
}

/** Returns the problem that a violation is, if its constraint says so. */
export function problemOf(violation: ValidationError | undefined): FieldProblem | undefined {
  const [context] = Object.values(violation?.contexts ?? {}) as ProblemContext[];
  return violation && context?.problemOf(violation);
}
