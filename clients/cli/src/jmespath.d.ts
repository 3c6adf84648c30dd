/** The part of `jmespath` that this program uses. The package has no types. */
declare module 'jmespath' {
  /** @throws Error if the expression is not valid */
  export function search(data: unknown, expression: string): unknown;
}
