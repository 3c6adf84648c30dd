import { stdin } from 'node:process';
import { text } from 'node:stream/consumers';
import { OperatorError } from '../../infrastructure/errors/index.js';

/** A secret from standard input, because an argument would show in the list of processes. */
export async function secretFromStandardInput(): Promise<string> {
  const secret = (await text(stdin)).replace(/\r?\n$/, '');
  if (secret === '') throw new OperatorError('Nothing came from standard input.');
  return secret;
}
