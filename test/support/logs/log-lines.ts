/** One line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** See `test-environment.mjs`. */
const chunks = Reflect.get(globalThis, Symbol.for('log lines')) as readonly string[];

/** Returns the log lines about a request to the service in this process. */
export function logLinesOf(requestId: string | null): LogLine[] {
  return logLines().filter((line) => line['request_id'] === requestId);
}

const lines: LogLine[] = [];
let chunksRead = 0;

/** Returns all log lines of this test file so far. Tests that wait for a line call this often, so each line is parsed once. */
export function logLines(): LogLine[] {
  const texts = chunks.slice(chunksRead).join('').split('\n').filter(Boolean);
  lines.push(...texts.map((text) => JSON.parse(text) as LogLine));
  chunksRead = chunks.length;
  return [...lines];
}
