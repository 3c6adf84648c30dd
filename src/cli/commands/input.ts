import { stdin } from 'node:process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { printSentence } from '../output.js';

/**
 * Reads a secret from standard input; an argument would be visible in the list of processes.
 *
 * @param what asked for on a terminal, where the command would seem to hang otherwise
 */
export async function readSecret(
  what: string,
  input: Readable & { readonly isTTY?: boolean } = stdin,
): Promise<string> {
  if (input.isTTY) printSentence(`Type the ${what}, then press Enter and Ctrl+D. The terminal shows it.`);
  const secret = (await text(input)).replace(/\r?\n$/, '');
  if (secret === '') throw new OperatorError('Standard input is empty.');
  return secret;
}

/**
 * Reads the lines of a UTF-8 stream, without a byte order mark. Truncates lines to one character more than the limit,
 * so that memory use is bounded and the reader still sees that a line is too long. (`node:readline` keeps whole lines
 * in memory, and loses lines that arrive before a listener is attached.)
 */
export async function* linesOf(input: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let line = '';
  for await (const chunk of input) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    const rest = parts.pop() ?? '';
    for (const part of parts) {
      yield (line + part).slice(0, limit + 1);
      line = '';
    }
    line = (line + rest).slice(0, limit + 1);
  }
  line += decoder.decode();
  if (line !== '') yield line;
}
