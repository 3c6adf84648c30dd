import { TextDecoder } from 'node:util';
import type { ResponseText } from '../../../infrastructure/http-client/index.js';
import { maskedText } from '../../../infrastructure/logging/index.js';

/** Bytes of a response that the request log keeps. */
const MAX_BYTES = 2 * 1024;
const PART_OF_TOKEN = /[\w.+/=~%-]/;

/**
 * Returns the beginning of a text in which secrets are masked, at most 2 KiB in UTF-8. Masks before cutting, because half of a
 * secret is not recognized.
 */
export function excerptOf({ text, isComplete }: ResponseText): string {
  const masked = Buffer.from(maskedText(isComplete ? text : withoutLastToken(text)));
  return new TextDecoder().decode(masked.subarray(0, MAX_BYTES), { stream: true });
}

function withoutLastToken(text: string): string {
  let end = text.length;
  while (end > 0 && PART_OF_TOKEN.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
