import type { LoadedConfiguration } from '../config/index.js';

const EXPIRY = Symbol('expiry');

type KeepFor = (configuration: LoadedConfiguration) => number | undefined;

/** When the rows of an entity are deleted. */
interface Expiry {
  readonly property: string;
  readonly keepFor: KeepFor;
  readonly condition: string | undefined;
}

/**
 * Deletes a row of the entity once this many milliseconds have passed since the time in the column. The column is a
 * `timestamptz`, or a `bigint` that holds milliseconds since the epoch.
 *
 * @param keepFor if the function returns undefined, rows are never deleted
 * @param condition SQL for the rows that may be deleted, because no work waits for them any more; all by default
 */
export function DeleteAfter(keepFor: number | KeepFor, condition?: string): PropertyDecorator {
  const rule = { keepFor: typeof keepFor === 'number' ? () => keepFor : keepFor, condition };
  return (prototype, property) =>
    Reflect.defineMetadata(EXPIRY, { ...rule, property: String(property) }, prototype.constructor);
}

/** Returns what `@DeleteAfter` says about an entity. */
export function expiryOf(entity: object): Expiry | undefined {
  return Reflect.getMetadata(EXPIRY, entity) as Expiry | undefined;
}
