/** Tells an operator in plain words what keeps the embedded PostgreSQL from running, and the way out. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  /** @param remedy a sentence without its full stop; DATABASE_URL is always named as the other remedy */
  constructor(problem: string, remedy?: string, options?: ErrorOptions) {
    const alternative = 'DATABASE_URL to use a PostgreSQL server of your own.';
    super(`${problem} ${remedy ? `${remedy}, or set` : 'Set'} ${alternative}`, options);
  }
}
