import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { isCertificateRefused, TLS_NOT_SUPPORTED } from './database-address.js';

/** SQLSTATE codes (PostgreSQL documentation, appendix A). */
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';
const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';

/**
 * Class 08: connection exception. 57014: query canceled, for example by its timeout. Class 57P: operator intervention
 * (shutdown, crash, starting up). Class 53: insufficient resources (full disk, out of memory, too many connections).
 */
const UNAVAILABLE_STATES = /^(?:08|57014|57P|53)/;
/**
 * PostgreSQL's routine CheckMyDatabase reports 55000 for a database that does not accept connections at the moment.
 * From any other routine, the code means that the statement is wrong.
 */
const CONNECTION_CHECK = { code: '55000', routine: 'CheckMyDatabase' };
/**
 * Citus reports a worker node that goes down during a statement or a commit as an internal error, with the message of libpq.
 * A connection that cannot be opened has a code of class 08.
 */
const LOST_NODE = {
  code: 'XX000',
  routines: new Set<unknown>(['ReportResultError', 'MarkRemoteTransactionFailed']),
  message:
    /SSL SYSCALL error|invalid socket|server closed the connection|no connection to the server|could not (?:receive|send) data|failure on connection/i,
};
const UNAVAILABLE_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Messages of `pg` and its pool that come without a code. */
const UNAVAILABLE_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|connection timeout|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/i;

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  /** The function inside PostgreSQL that raised the error. */
  readonly routine?: unknown;
  readonly message?: unknown;
  readonly driverError?: unknown;
}

function driverErrorOf(error: unknown): DriverError {
  const outer = (error ?? {}) as DriverError;
  return (outer.driverError ?? outer) as DriverError;
}

/**
 * Returns whether the database is unreachable, shutting down, out of resources or too slow (a statement timeout), as opposed to
 * refusing the statement.
 * When a connection breaks between two statements of a transaction, TypeORM releases it, and the second statement fails
 * with an error about the release.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (error instanceof QueryRunnerAlreadyReleasedError) return true;
  if (error instanceof QueryRunnerProviderAlreadyReleasedError) return true;
  const { code, message, routine } = driverErrorOf(error);
  if (code === CONNECTION_CHECK.code) return routine === CONNECTION_CHECK.routine;
  if (code === LOST_NODE.code) {
    return LOST_NODE.routines.has(routine) && LOST_NODE.message.test(String(message));
  }
  if (typeof code === 'string') {
    return UNAVAILABLE_SYSTEM_CODES.has(code) || UNAVAILABLE_STATES.test(code) || isCertificateRefused(code);
  }
  return typeof message === 'string' && (UNAVAILABLE_MESSAGES.test(message) || message === TLS_NOT_SUPPORTED);
}

/** Returns whether the database may become available without a change of the configuration. */
export function isTemporarilyUnavailable(error: unknown): boolean {
  const { code, message } = driverErrorOf(error);
  return isDatabaseUnavailable(error) && !isCertificateRefused(code) && message !== TLS_NOT_SUPPORTED;
}

/** Returns whether a retry of the whole transaction may succeed. */
export function isTransient(error: unknown): boolean {
  const { code } = driverErrorOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Returns whether the statement was canceled, by its timeout or by an operator. */
export function isStatementCanceled(error: unknown): boolean {
  return driverErrorOf(error).code === QUERY_CANCELED;
}

/** Returns whether waiting for a lock exceeded `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return driverErrorOf(error).code === LOCK_NOT_AVAILABLE;
}

export function isCheckViolation(error: unknown): boolean {
  return driverErrorOf(error).code === CHECK_VIOLATION;
}

/** Returns whether the statement violates this unique constraint. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  const driverError = driverErrorOf(error);
  return driverError.code === UNIQUE_VIOLATION && driverError.constraint === constraint;
}

/** Runs a statement. @returns false if it would have violated one of these unique constraints */
export async function unlessDuplicate(
  run: () => Promise<unknown>,
  ...constraints: readonly string[]
): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (constraints.some((constraint) => violatesUnique(error, constraint))) return false;
    throw error;
  }
}

/**
 * Returns whether the row's partition changed during the insert, for example because one was attached. A retry inserts
 * the row into the right partition.
 */
export function isMissingPartition(error: unknown): boolean {
  const { message } = driverErrorOf(error);
  return isCheckViolation(error) && /violates partition constraint/.test(String(message));
}
