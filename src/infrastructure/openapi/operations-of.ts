import type { OpenAPIObject } from '@nestjs/swagger';

export type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

/** Returns the operations of the API. */
export function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return operationsIn(Object.values(paths));
}

/** Returns the requests that the service sends to webhook endpoints. */
export function webhooksOf(document: OpenAPIObject): Operation[] {
  const callbacks = operationsOf(document).flatMap(({ callbacks: own = {} }) => Object.values(own));
  return operationsIn([...Object.values(document.webhooks ?? {}), ...callbacks.flatMap(Object.values)]);
}

function operationsIn(paths: readonly object[]): Operation[] {
  return paths.flatMap((path) => Object.values(path) as Operation[]);
}
