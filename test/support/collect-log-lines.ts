import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(process.env.TEST_RUN_DIRECTORY ?? '', 'logs', `${process.pid}.log`);

/** Writes the service's log lines to a file, which the reporter searches, instead of between the test results. */
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...values: unknown[]) => boolean;
  stream.write = ((chunk: unknown, ...rest: unknown[]): boolean => {
    if (typeof chunk !== 'string' || !chunk.startsWith('{"level"')) return write(chunk, ...rest);
    appendFileSync(file, chunk);
    return true;
  }) as typeof stream.write;
}
