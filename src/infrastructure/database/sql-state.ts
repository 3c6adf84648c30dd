import { setTimeout as pause } from 'node:timers/promises';
import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { ApiError } from '../errors/index.js';
import { SECOND } from '../time/index.js';
import { isCertificateRefused, TLS_NOT_SUPPORTED } from './database-address.js';

/** SQLSTATE codes (PostgreSQL documentation, appendix A). */
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';
const READ_ONLY = '25006';
const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';

/** The codes of PostgreSQL, as opposed to those of Node.js, such as EPIPE. */
const SQL_STATE = /^(?:\d|F0|HV|P0|XX)[\dA-Z]{3,4}$/;
/**
 * Classes of errors whose statement is at fault: features, cardinality, data, constraints, states of transactions and cursors,
 * names, syntax, privileges, limits of the program, states of objects, and exceptions that our functions raise. With any other
 * error, the server refuses statements for a reason of its own: it has lost the connection (08), is read-only since a failover
 * (25006), ended a session (25P03, 57P), refuses the password (28), is out of resources (53), canceled the statement (57014), or
 * has failed (58, XX).
 */
const FAULT_OF_STATEMENT = /^(?:0[39A-Z]|2(?!5006|5P0[34]|8)|3|4|5[45]|P0)/;
/**
 * PostgreSQL's routine CheckMyDatabase reports 55000 for a database that does not accept connections at the moment.
 * From any other routine, the code means that the statement is wrong.
 */
const CONNECTION_CHECK = { code: '55000', routine: 'CheckMyDatabase' };
const UNAVAILABLE_SYSTEM_CODES = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EPROTO',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Messages of `pg` and its pool that come without a code. */
const UNAVAILABLE_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|connection timeout|Query read timeout|not queryable|Cannot use a pool after calling end|error establishing an SSL connection/i;

const REFUSED_LOGIN = /^28/;
const NO_RESOURCES = /^53/;

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  /** The function inside PostgreSQL that raised the error. */
  readonly routine?: unknown;
  /** The failed call, in an error of the operating system. */
  readonly syscall?: unknown;
  readonly message?: unknown;
  readonly driverError?: unknown;
}

function isOfClass(code: unknown, states: RegExp): boolean {
  return typeof code === 'string' && states.test(code);
}

function driverErrorOf(error: unknown): DriverError {
  const outer = (error ?? {}) as DriverError;
  return (outer.driverError ?? outer) as DriverError;
}

/**
 * Returns whether the database is unreachable, shutting down, read-only, out of resources or too slow (a statement timeout), as
 * opposed to refusing the statement.
 * When a connection breaks between two statements of a transaction, TypeORM releases it, and the second statement fails
 * with an error about the release.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (error instanceof QueryRunnerAlreadyReleasedError) return true;
  if (error instanceof QueryRunnerProviderAlreadyReleasedError) return true;
  const { code, message, routine, syscall } = driverErrorOf(error);
  if (code === CONNECTION_CHECK.code) return routine === CONNECTION_CHECK.routine;
  if (typeof code === 'string') {
    if (SQL_STATE.test(code)) return !FAULT_OF_STATEMENT.test(code);
    // This includes a socket that is missing (ENOENT), and a process without free descriptors (EMFILE) or ports (EADDRNOTAVAIL).
    return syscall === 'connect' || UNAVAILABLE_SYSTEM_CODES.has(code) || isCertificateRefused(code);
  }
  return typeof message === 'string' && (UNAVAILABLE_MESSAGES.test(message) || message === TLS_NOT_SUPPORTED);
}

/** Returns the cause of a failure, without data of users, which messages about statements can contain. */
export function causeOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(causeOf))].join(', ');
  const { code, message } = driverErrorOf(error);
  return String(isDatabaseUnavailable(error) && message ? message : (code ?? (error as Error).name));
}

/** Returns whether the database may become available without a change of the configuration. */
export function isTemporarilyUnavailable(error: unknown): boolean {
  const { code, message } = driverErrorOf(error);
  return (
    isDatabaseUnavailable(error) &&
    !isCertificateRefused(code) &&
    !isOfClass(code, REFUSED_LOGIN) &&
    // PgBouncer has the same code for everything.
    !String(message).startsWith('unsupported startup parameter') &&
    message !== TLS_NOT_SUPPORTED
  );
}

/** Returns whether the server cannot be reached, as opposed to refusing a login or a statement. */
export function isUnreachable(error: unknown): boolean {
  return isTemporarilyUnavailable(error) && !isOfClass(driverErrorOf(error).code, NO_RESOURCES);
}

/**
 * Returns whether the server may refuse further statements of this connection, so that the next one should get a new connection.
 * Its address may lead to another server by now.
 */
export function endsConnection(error: unknown): boolean {
  return isOfClass(driverErrorOf(error).code, /^(?:08|25006|28|53|57P|58|XX)/);
}

/**
 * Returns whether the server refuses work that is not at fault, and will refuse the same from others: it is read-only, does not
 * accept the login, or is out of resources.
 */
export function isRefusal(error: unknown): boolean {
  return isOfClass(driverErrorOf(error).code, /^(?:25006|28|53|58)/);
}

/** Returns whether the server accepts no writes, like a primary that has become a replica. */
export function isReadOnly(error: unknown): boolean {
  return driverErrorOf(error).code === READ_ONLY;
}

/** Returns whether the same work may succeed on a new connection at once. */
export function mayRepeat(error: unknown): boolean {
  return isUnreachable(error) && !isStatementCanceled(error);
}

/**
 * Returns whether the error is no fault of the rows that were to be written, so that they must be kept and written later. It is the
 * rule for everything that nobody else repeats: log entries, settlements and work in the background.
 */
export function isTransientFailure(error: unknown): boolean {
  return isDatabaseUnavailable(error) || isTransient(error) || isMissingPartition(error);
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

/** SQLSTATE 23514. */
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
  // The server translates messages (`lc_messages`). Only constraints of tables and domains have names.
  return isCheckViolation(error) && driverErrorOf(error).constraint === undefined;
}

/** Retries a batch at once if the partition of the day was attached while its statement ran (`BatchedStatementOptions.retryAfter`). */
export function retryInNewPartition(error: unknown): 0 | undefined {
  return isMissingPartition(error) ? 0 : undefined;
}

/** Milliseconds after which work whose connection was lost is not repeated: the client of the request does not wait forever. */
const REPEATED_WITHIN = 4 * SECOND;

/**
 * Returns whether to repeat work on a new connection.
 *
 * @param start when the work began, on the clock of `performance.now()`
 */
export function isRepeatedAfter(error: unknown, start: number): boolean {
  return mayRepeat(error) && performance.now() - start < REPEATED_WITHIN;
}

/**
 * Runs work, and runs it again if its connection was lost.
 *
 * @param again takes into account that the database may have done the work
 */
export async function repeatedOnce<Result>(
  work: () => Promise<Result>,
  again: () => Promise<Result> = work,
): Promise<Result> {
  const start = performance.now();
  try {
    return await work();
  } catch (error) {
    if (!isRepeatedAfter(error, start)) throw error;
    return again();
  }
}

/** Milliseconds. A restart of the database, or a failover, takes less. */
const CONTINUED_FOR = 60 * SECOND;

/**
 * Reads the next part of a response that has begun. The response can no longer ask its client to retry, so this waits while the database or its
 * connections are busy or unavailable.
 */
export async function continued<Result>(read: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const mayPass = isTransientFailure(error) || (error instanceof ApiError && error.status >= 503);
      if (!mayPass || performance.now() - start > CONTINUED_FOR) throw error;
      await pause(SECOND);
    }
  }
}
