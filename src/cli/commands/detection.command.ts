import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { Command, CommandRunner, SubCommand } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import {
  DetectedAccountsImport,
  MAX_LINE_LENGTH,
  type ImportState,
} from '../../modules/detected-accounts/index.js';
import { answer, EXIT, OperatorSession } from '../operator-session.js';
import { linesOf } from './lines.js';

@SubCommand({
  name: 'import',
  arguments: '<file>',
  argsDescription: { file: 'NDJSON, or - for standard input' },
  description:
    'Import detected accounts: one JSON object a line with client_id, external_user_id, merchant (a name) or ' +
    'merchant_id, and detected_at. Bad lines are reported and skipped (exit code 2); doing it again changes nothing',
})
export class ImportDetectionsCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run([file = '-']: string[]): Promise<void> {
    return this.session.run(async (app) => {
      const input = file === '-' ? process.stdin : await open(file);
      const state = await app.get(DetectedAccountsImport).run(linesOf(input, MAX_LINE_LENGTH), {
        skipped: (line, reason) => void process.stderr.write(`line ${line}: ${reason}\n`),
        progress: showProgress,
      });
      if (process.stderr.isTTY) process.stderr.write('\n');
      answer(state);
      if (state.skipped > 0) process.exitCode = EXIT.incomplete;
    });
  }
}

@Command({ name: 'detection', description: 'Detected accounts', subCommands: [ImportDetectionsCommand] })
export class DetectionCommand extends CommandRunner {
  override async run(): Promise<void> {
    this.command.help();
  }
}

async function open(file: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    await access(file, constants.R_OK);
    if ((await stat(file)).isDirectory()) throw new Error('A directory');
  } catch {
    throw new OperatorError(`The file ${file} cannot be read.`);
  }
  return createReadStream(file);
}

/** On a terminal one line that is written over; in a log a line now and then. */
function showProgress({ lines, recorded, skipped }: ImportState): void {
  const text = `${lines} lines, ${recorded} recorded, ${skipped} skipped`;
  if (process.stderr.isTTY) process.stderr.write(`\r${text}`);
  else if (lines % 100_000 === 0 && lines > 0) process.stderr.write(`${text}\n`);
}
