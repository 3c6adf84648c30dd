import { namedSchema, type SchemaReference } from './named-schemas.js';

/** A fixed set of strings that has a name in the API document. */
export interface Enumeration<Value extends string = string> {
  readonly values: readonly Value[];
  readonly reference: SchemaReference;
}

/**
 * Names a set of strings.
 *
 * @param name name of the schema and of the type in generated clients, such as `Environment`
 * @param description says in the API document what the set is for
 */
export function enumeration<const Value extends string>(
  name: string,
  values: readonly Value[],
  description: string,
): Enumeration<Value> {
  return { values, reference: namedSchema(name, { type: 'string', enum: [...values], description }) };
}
