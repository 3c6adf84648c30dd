import { ApiError, ConnectionError, SignatureError } from '@merchant-connectivity/sdk';

/** Exit codes of the program, besides 0. */
export const EXIT = { failure: 1, usage: 2, notLoggedIn: 4 } as const;

/** A failure that the user can do something about. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failure,
    /** The next step for the user. */
    readonly hint?: string,
    /** Details for programs and for support. */
    readonly details: Readonly<Record<string, string | number>> = {},
  ) {
    super(message);
  }
}

export const usage = (message: string): Failure => new Failure(message, EXIT.usage);

/** The hint if an address does not respond. */
const NOT_REACHED =
  'Check that the service runs at this address. --base-url, MCS_BASE_URL and MCS_DASHBOARD_URL change it.';

const HINTS: Readonly<Record<string, string>> = {
  INVALID_API_KEYS:
    'Check MCS_CLIENT_ID, and MCS_API_KEY or MCS_CLIENT_SECRET, or run: mcs login --credentials <file>',
  INVALID_ACCESS_TOKEN: 'Log in: mcs login',
  INSUFFICIENT_SCOPE: 'Add the scope to the API key, or log in again, with all scopes: mcs login',
  ENVIRONMENT_MISMATCH: 'Use a profile of the other environment: mcs --profile <name> …',
};

/** Variables with a credential that is used in place of a login: another login would not help. */
const IN_PLACE_OF_LOGIN = ['MCS_ACCESS_TOKEN', 'MCS_API_KEY'];

/** Returns the next step for the user, if it is known. */
function hintOf(errorCode: string | undefined): string | undefined {
  const variable = IN_PLACE_OF_LOGIN.find((name) => process.env[name]);
  const part = { INVALID_ACCESS_TOKEN: '', INSUFFICIENT_SCOPE: 'the scopes of ' }[errorCode ?? ''];
  if (part !== undefined && variable !== undefined)
    return `Check ${part}${variable}, which is used in place of a login.`;
  return HINTS[errorCode ?? ''];
}

/** Whether a request may succeed later: it had no response, or one that says nothing about the request itself. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError;
}

/** The output for a failed command. */
export interface FailureReport {
  readonly exitCode: number;
  readonly message: string;
  readonly hint: string | undefined;
  /** Details for programs and for support. */
  readonly details: Readonly<Record<string, string | number>>;
}

/** @returns undefined for a defect of this program */
export function reportOf(error: unknown): FailureReport | undefined {
  if (error instanceof Failure) {
    const { exitCode, message, hint, details } = error;
    return { exitCode, message, hint, details };
  }
  if (error instanceof ApiError) return reportOfResponse(error);
  if (error instanceof ConnectionError) {
    return { exitCode: EXIT.failure, message: error.message, hint: NOT_REACHED, details: {} };
  }
  if (error instanceof SignatureError) {
    return {
      exitCode: EXIT.failure,
      message: error.message,
      hint: undefined,
      details: { reason: error.reason },
    };
  }
  return undefined;
}

function reportOfResponse({
  status,
  message,
  errorCode,
  requestId,
  retryAfter,
  help,
  details: { oldestCursor },
}: ApiError): FailureReport {
  const wait = retryAfter === undefined ? undefined : `Retry in ${retryAfter} s.`;
  return {
    exitCode: status === 401 && errorCode !== undefined ? EXIT.notLoggedIn : EXIT.failure,
    message,
    hint: hintOf(errorCode) ?? wait,
    details: {
      status,
      ...(errorCode && { error_code: errorCode }),
      ...(requestId && { request_id: requestId }),
      ...(help && { help }),
      ...(oldestCursor && { oldest_cursor: oldestCursor }),
    },
  };
}
