import type { EntityManager } from 'typeorm';
import { prepared } from './client.js';

/**
 * A prepared statement whose parameters have names: `$endpointId` instead of `$3`. They are numbered in the order in which they first
 * appear. `Parameters` have one value each, and the fields of `Item` are passed as arrays, one element for each item.
 */
export class Statement<Parameters extends object, Row, Item extends object = never> {
  private readonly names: readonly string[];
  readonly text: string;

  constructor(readonly named: string) {
    const names = [...new Set(Array.from(named.matchAll(/\$([a-z]\w*)/gi), ([, name = '']) => name))];
    const text = named.replaceAll(/\$([a-z]\w*)/gi, (_, name: string) => `$${names.indexOf(name) + 1}`);
    this.names = names;
    this.text = prepared(text);
  }

  run(manager: EntityManager, parameters: Parameters, items: readonly Item[] = []): Promise<Row[]> {
    const values = this.names.map((name) =>
      name in parameters ? parameters[name as never] : items.map((item) => item[name as never]),
    );
    return manager.query<Row[]>(this.text, values);
  }
}

/** A row of a statement that returns at most one row for each item. */
export interface Positioned {
  /** The position of the item, starting at 1, as in `WITH ORDINALITY`. */
  readonly position: number;
}

/** Returns the row of each item without its position, in the order of the items. */
export function inPositions<Row extends object>(
  items: readonly unknown[],
  rows: readonly (Row & Positioned)[],
): (Row | undefined)[] {
  const found = new Map(rows.map(({ position, ...row }) => [position, row as unknown as Row]));
  return items.map((_, index) => found.get(index + 1));
}
