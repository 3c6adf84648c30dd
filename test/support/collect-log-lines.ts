import { appendFileSync } from 'node:fs';
import { LOG_FILE } from './log-lines.js';

/** Writes the service's log lines to a file, which the reporter searches, instead of between the test results. */
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...values: unknown[]) => boolean;
  stream.write = ((chunk: unknown, ...rest: unknown[]): boolean => {
    if (typeof chunk !== 'string' || !chunk.startsWith('{"level"')) return write(chunk, ...rest);
    appendFileSync(LOG_FILE, chunk);
    return true;
  }) as typeof stream.write;
}
