import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { SignatureError, webhooks } from '@merchant-connectivity/sdk';
import { EXIT, Failure, usage } from '../failures.js';
import { action, type Session } from '../program.js';
import { textIn } from '../text-files.js';

const STANDARD_INPUT = 0;

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('verify the signatures of a saved delivery; its body is read from standard input')
    .option('-H, --header <header...>', 'a header of the delivery, such as "webhook-id: 0f0c2f0e-…"')
    .option('--headers <file>', 'file with the headers, one per line')
    .option(
      '--secret-file <file>',
      'file with the key of the endpoint (whsec_ or whpk_) or the secret; default: MCS_CLIENT_SECRET or the stored one',
    )
    .option('--tolerance <seconds>', 'also check that the timestamp is at most this old')
    .action(action(verify));
}

interface VerifyOptions {
  readonly header?: readonly string[];
  readonly headers?: string;
  readonly secretFile?: string;
  readonly tolerance?: string;
}

async function verify({ settings, output }: Session, options: VerifyOptions): Promise<void> {
  const headers = headersOf(options);
  const secret = secretIn(options) ?? settings.clientSecret;
  if (!secret) {
    throw new Failure(
      'Verification requires the key of the endpoint or the secret of the API client.',
      EXIT.notLoggedIn,
      'Set MCS_CLIENT_SECRET, pass --secret-file <file>, or run mcs login --credentials <file>.',
    );
  }
  const body = readFileSync(STANDARD_INPUT);
  const tolerance = options.tolerance === undefined ? Infinity : Number(options.tolerance);
  if (Number.isNaN(tolerance)) throw usage('--tolerance must be a number of seconds.');
  const event = await webhooks.verify(body, headers, secret, { tolerance }).catch((error: unknown) => {
    if (error instanceof SignatureError) throw explained(error, headers, body);
    if (error instanceof TypeError) throw usage(error.message);
    throw error;
  });
  const isKey = /^wh(?:sec|pk)_/.test(secret);
  const age = Math.round(Date.now() / 1000 - Number(headers['webhook-timestamp']));
  output.result(
    { valid: true, event, age_seconds: age },
    `${isKey ? 'The signature with the key of the endpoint is' : 'Both signatures are'} valid. ${event.event}, signed ${age} s ago.`,
  );
}

/** Not the secret itself: every user of the machine can read the arguments of a program. */
function secretIn({ secretFile }: VerifyOptions): string | undefined {
  return secretFile === undefined ? undefined : textIn(secretFile).trim();
}

function headersOf({ header = [], headers }: VerifyOptions): Record<string, string> {
  const lines = [...(headers === undefined ? [] : textIn(headers).split(/\r?\n/)), ...header];
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
