import type { OpenAPIObject, SchemaObject } from '@nestjs/swagger';
import { REQUIRED_MARK, type ConditionalPresence } from '../validation/index.js';

type Condition = Readonly<Record<string, unknown>>;

/**
 * Turns the conditions of the fields into conditions of the objects: which fields are required if others are missing or
 * have a certain value.
 */
export function expressConditions(document: OpenAPIObject): void {
  for (const schema of Object.values(document.components?.schemas ?? {})) {
    const { properties = {} } = schema as SchemaObject;
    for (const [field, property] of Object.entries(properties)) {
      const { [REQUIRED_MARK]: condition, ...rest } = property as Condition & {
        [REQUIRED_MARK]?: ConditionalPresence;
      };
      if (condition === undefined) continue;
      properties[field] = rest as SchemaObject;
      Object.assign(schema, conditionOf(field, condition));
    }
  }
}

function conditionOf(field: string, condition: ConditionalPresence): Condition {
  if ('unless' in condition) return { if: isPresent(condition.unless), else: isPresent(field) };
  const { when, is } = condition;
  const description = 'The other field that decides.';
  return {
    if: { required: [when], properties: { [when]: { const: is, description } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: isPresent(field),
  };
}

/** `null` counts as missing. */
function isPresent(field: string): Condition {
  const description = 'Present, and not null.';
  return { required: [field], properties: { [field]: { type: 'string', description } } };
}
