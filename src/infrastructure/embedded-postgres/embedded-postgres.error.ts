import { OperatorError } from '../errors/index.js';

interface Explanation {
  /** What to do about it: a sentence without its full stop. */
  remedy?: string;
  /** What the programs said, for those who want to know more. */
  details?: string;
  cause?: unknown;
}

/** Tells an operator in plain words what keeps the embedded PostgreSQL from running, and the ways out. */
export class EmbeddedPostgresError extends OperatorError {
  constructor(problem: string, { remedy, details, cause }: Explanation = {}) {
    const waysOut = `${remedy ? `${remedy}, or set` : 'Set'} DATABASE_URL to use a PostgreSQL server of your own.`;
    super(`${problem} ${waysOut}${details ? `\n${details}` : ''}`, cause === undefined ? {} : { cause });
  }
}
