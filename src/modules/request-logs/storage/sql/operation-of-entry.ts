import { MAX_OPERATION_LENGTH } from '../../request-log-entry.js';

/** The operation of an API request: its method and path, with `{id}` in place of numbers and UUIDs. */
export const OPERATION_OF_ENTRY = `left(method || ' ' || regexp_replace(path,
  '/([0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=/|$)', '/{id}', 'gi'), ${MAX_OPERATION_LENGTH})`;

/**
 * Returns the condition of the API requests of an operation. Comparing the beginnings first takes a fraction of the time, because most
 * entries of a period are of others.
 *
 * @param parameter with the operation
 */
export function isOfOperation(parameter: string): string {
  return `(type = 'request' AND starts_with(method || ' ' || path, split_part(${parameter}, '{id}', 1))
           AND ${OPERATION_OF_ENTRY} = ${parameter})`;
}
