import type { LoadedConfiguration } from '../../config/index.js';

/** A column of an entity, and how many milliseconds a row is kept after the time in that column. */
export interface ExpiryRule {
  readonly entity: new () => object;
  readonly property: string;
  readonly keepFor: (configuration: LoadedConfiguration) => number;
}

const rules: ExpiryRule[] = [];

/**
 * Deletes a row of the entity once this many milliseconds have passed since the time in the column. The column is a
 * `timestamptz`, or a `bigint` that holds milliseconds since the epoch. The entity's primary key must have exactly one
 * column.
 */
export function DeleteAfter(keepFor: number | ExpiryRule['keepFor']): PropertyDecorator {
  return (prototype, property) => {
    rules.push({
      entity: prototype.constructor as ExpiryRule['entity'],
      property: String(property),
      keepFor: typeof keepFor === 'number' ? () => keepFor : keepFor,
    });
  };
}

/** Returns the rules of all entities that have been imported. */
export function expiryRules(): readonly ExpiryRule[] {
  return rules;
}
