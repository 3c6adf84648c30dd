/** One line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** See `test-environment.mjs`. */
const chunks = Reflect.get(globalThis, Symbol.for('log lines')) as readonly string[];

/** Returns the log lines about a request to the service in this process. */
export function logLinesOf(requestId: string | null): LogLine[] {
  return logLines().filter((line) => line['request_id'] === requestId);
}

/** Returns all log lines of this test file so far. */
export function logLines(): LogLine[] {
  return chunks
    .join('')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}
