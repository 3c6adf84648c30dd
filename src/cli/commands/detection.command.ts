import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { OperatorError } from '../../infrastructure/errors/index.js';
import {
  DetectedAccountsImport,
  MAX_LINE_LENGTH,
  type ImportState,
} from '../../modules/detected-accounts/index.js';
import { commandGroup } from '../operator-command.js';
import { EXIT, printSentence } from '../output.js';
import { linesOf } from './input.js';

export const DETECTION_COMMAND = commandGroup('detection');

DETECTION_COMMAND.command('import')
  .argument('<file>', 'NDJSON file, or - for standard input')
  .description(
    'Import detected accounts from NDJSON: client_id, external_user_id, merchant (a name) or merchant_id, and ' +
      'detected_at. Notifies clients of accounts that were not known before. Reports and skips invalid lines (exit code ' +
      '2). You can safely repeat an import',
  )
  .option('--no-notify', 'send no webhooks')
  .onApplication<{ notify: boolean }>(async (app, { notify }, file = '-') => {
    const input = file === '-' ? process.stdin : await openFile(file);
    const listener = {
      skipped: (line: number, reason: string) => printSentence(`line ${line}: ${reason}`),
      progress: showProgress,
    };
    const lines = linesOf(input, MAX_LINE_LENGTH);
    const state = await app.get(DetectedAccountsImport).run(lines, listener, { notify });
    if (process.stderr.isTTY) process.stderr.write('\n');
    if (state.skipped > 0) process.exitCode = EXIT.incomplete;
    return state;
  });

async function openFile(file: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    await access(file, constants.R_OK);
    if ((await stat(file)).isDirectory()) throw new Error('A directory');
  } catch {
    throw new OperatorError(`The file ${file} cannot be read.`);
  }
  return createReadStream(file);
}

/** Overwrites one line on a terminal; writes a line from time to time to a log. */
function showProgress({ lines, recorded, skipped }: ImportState): void {
  const text = `${lines} lines, ${recorded} recorded, ${skipped} skipped`;
  if (process.stderr.isTTY) process.stderr.write(`\r${text}`);
  else if (lines % 100_000 === 0 && lines > 0) process.stderr.write(`${text}\n`);
}
