import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = process.env.TEST_RUN_DIRECTORY ?? '';

/** Where the whole run leaves what `whole-run.reporter.mjs` judges at its end. */
export function leaveForReporter(file: string, line: string): void {
  appendFileSync(join(directory, file), `${line}\n`);
}

/** Has the whole run's log lines searched for this text. */
export function rememberSecret(...secrets: string[]): void {
  for (const secret of secrets) leaveForReporter('secrets.txt', secret);
}
