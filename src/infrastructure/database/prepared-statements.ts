import pg from 'pg';

const names = new Map<string, string>();

/**
 * Marks a statement that runs so often that planning it each time would cost more than running it. Every connection
 * prepares it once. Use it for a constant only: prepared statements stay in memory.
 *
 * @returns the same text, which repositories run as any other statement
 */
export function prepared(statement: string): string {
  if (!names.has(statement)) names.set(statement, `prepared_${names.size + 1}`);
  return statement;
}

/** A client that runs statements marked by `prepared()` as prepared statements. TypeORM cannot name statements. */
export class PreparingClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    const query = this.query.bind(this) as (...parameters: unknown[]) => unknown;
    this.query = ((statement: unknown, ...rest: unknown[]) => {
      const name = typeof statement === 'string' ? names.get(statement) : undefined;
      return query(name === undefined ? statement : { name, text: statement }, ...rest);
    }) as typeof this.query;
  }
}
