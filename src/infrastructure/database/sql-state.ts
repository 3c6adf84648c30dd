import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { isCertificateRefused, NO_TLS_THERE } from './database-address.js';

/** SQLSTATE codes that decide what happens next (PostgreSQL documentation, appendix A). */
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';
const UNIQUE_VIOLATION = '23505';
const CHECK_VIOLATION = '23514';

/**
 * Class 08: connection exception. 57014: the statement ran past its time. Class 57P: operator intervention
 * (shutdown, crash, starting up). Class 53: insufficient resources (a full disk, no memory, too many connections).
 */
const UNAVAILABLE_STATES = /^(?:08|57014|57P|53)/;
/**
 * The check at the beginning of a connection: a database that lets nobody in for the time being says 55000,
 * which from anywhere else is a fault of the statement.
 */
const CONNECTION_CHECK = { code: '55000', routine: 'CheckMyDatabase' };
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
/** What `pg` and its pool say where no code is given. */
const UNAVAILABLE_MESSAGES =
  /Connection terminated|timeout exceeded when trying to connect|connection timeout|Client has encountered a connection error|not queryable|Cannot use a pool after calling end/i;

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  /** The function of PostgreSQL's own that raised it. */
  readonly routine?: unknown;
  readonly message?: unknown;
  readonly driverError?: unknown;
}

function driverErrorOf(error: unknown): DriverError {
  const outer = (error ?? {}) as DriverError;
  return (outer.driverError ?? outer) as DriverError;
}

/**
 * Whether the database could not be reached, went away or has no room, as opposed to refusing the statement. TypeORM
 * lets go of a connection that breaks between two statements of a transaction, and says no more at the second.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (error instanceof QueryRunnerAlreadyReleasedError) return true;
  if (error instanceof QueryRunnerProviderAlreadyReleasedError) return true;
  const { code, message, routine } = driverErrorOf(error);
  if (code === CONNECTION_CHECK.code) return routine === CONNECTION_CHECK.routine;
  if (typeof code === 'string') {
    return UNAVAILABLE_SYSTEM_CODES.has(code) || UNAVAILABLE_STATES.test(code) || isCertificateRefused(code);
  }
  return typeof message === 'string' && (UNAVAILABLE_MESSAGES.test(message) || message === NO_TLS_THERE);
}

/** Whether doing the whole transaction again may succeed. */
export function isTransient(error: unknown): boolean {
  const { code } = driverErrorOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Whether the statement ran past its time, or somebody cancelled it. */
export function isStatementCanceled(error: unknown): boolean {
  return driverErrorOf(error).code === QUERY_CANCELED;
}

/** Whether a lock was not to be had within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return driverErrorOf(error).code === LOCK_NOT_AVAILABLE;
}

/** Whether PostgreSQL refused the statement because of this unique constraint, and not of another. */
export function violatesUnique(error: unknown, constraint: string): boolean {
  const driverError = driverErrorOf(error);
  return driverError.code === UNIQUE_VIOLATION && driverError.constraint === constraint;
}

/**
 * Whether a row found the partition that it was meant for changed under it, as when another was attached
 * meanwhile. Written again it goes to the right one.
 */
export function isMissingPartition(error: unknown): boolean {
  const { code, message } = driverErrorOf(error);
  return code === CHECK_VIOLATION && /violates partition constraint/.test(String(message));
}
