import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Returns the log lines about a request to the service in this process. */
export function logLinesOf(requestId: string | null): LogLine[] {
  return logLines().filter((line) => line['request_id'] === requestId);
}

/** Returns all log lines so far. */
export function logLines(): LogLine[] {
  const file = join(process.env.TEST_RUN_DIRECTORY ?? '', 'logs', `${process.pid}.log`);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}
