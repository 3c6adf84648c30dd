import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One line of the service's log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Contains the log lines of one test file. */
export const LOG_FILE = join(process.env.TEST_RUN_DIRECTORY ?? '', 'logs', `${randomUUID()}.log`);

/** Returns the log lines about a request to the service in this process. */
export function logLinesOf(requestId: string | null): LogLine[] {
  return logLines().filter((line) => line['request_id'] === requestId);
}

/** Returns all log lines of this test file so far. */
export function logLines(): LogLine[] {
  if (!existsSync(LOG_FILE)) return [];
  return readFileSync(LOG_FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine);
}
