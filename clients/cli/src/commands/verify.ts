import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { SignatureError, webhooks } from '@merchant-connectivity/sdk';
import { EXIT, Failure, usage } from '../failures.js';
import { action, type Session } from '../program.js';
import { readText } from '../text-files.js';

const STANDARD_INPUT = 0;

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('verify both signatures of a saved delivery; its body is read from standard input')
    .option('-H, --header <header...>', 'a header of the delivery, such as "webhook-id: 0f0c2f0e-…"')
    .option('--headers <file>', 'file with the headers, one a line')
    .option('--secret <secret>', 'secret of the client; default: MCS_CLIENT_SECRET or the stored one')
    .option('--tolerance <seconds>', 'also check that the timestamp is at most this old')
    .action(action(verify));
}

interface VerifyOptions {
  readonly header?: readonly string[];
  readonly headers?: string;
  readonly secret?: string;
  readonly tolerance?: string;
}

async function verify({ settings, output }: Session, options: VerifyOptions): Promise<void> {
  const headers = headersOf(options);
  const secret = options.secret ?? settings.clientSecret;
  if (!secret) {
    throw new Failure(
      'Verifying needs the secret of the API client.',
      EXIT.notLoggedIn,
      'Set MCS_CLIENT_SECRET, or run mcs login --credentials <file>.',
    );
  }
  const body = readFileSync(STANDARD_INPUT);
  const tolerance = options.tolerance === undefined ? Infinity : Number(options.tolerance);
  if (Number.isNaN(tolerance)) throw usage('--tolerance must be a number of seconds.');
  const event = await webhooks.verify(body, headers, secret, { tolerance }).catch((error: unknown) => {
    if (error instanceof SignatureError) throw explained(error, headers, body);
    throw error;
  });
  const age = Math.round(Date.now() / 1000 - Number(headers['webhook-timestamp']));
  output.result(
    { valid: true, event, age_seconds: age },
    `Both signatures are valid. ${event.event}, signed ${age} s ago.`,
  );
}

function headersOf({ header = [], headers }: VerifyOptions): Record<string, string> {
  let lines = [...header];
  if (headers !== undefined) {
    try {
      lines = [...readText(headers).split(/\r?\n/), ...lines];
    } catch (error) {
      throw usage(`${headers} cannot be read: ${(error as Error).message}`);
    }
  }
  const pairs = lines.map((line) => /^([^:\s]+):\s*(.*?)\s*$/.exec(line)).filter((match) => match !== null);
  if (pairs.length === 0) throw usage('Give the headers of the delivery with --headers <file> or --header.');
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name.toLowerCase(), value]));
}

/** Adds the most likely cause: editors and shells add and remove line breaks. */
function explained(error: SignatureError, headers: Record<string, string>, body: Buffer): Failure {
  const length = headers['content-length'];
  const isOtherLength = length !== undefined && Number(length) !== body.length;
  return new Failure(
    error.message,
    EXIT.failure,
    isOtherLength
      ? `The body has ${body.length} bytes, but Content-Length says ${length}: save the exact bytes, without another line break.`
      : undefined,
  );
}
