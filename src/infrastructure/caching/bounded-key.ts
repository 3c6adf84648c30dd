import { hash } from 'node:crypto';

/** Characters. Enough for what usually identifies something: several IDs, hashes and addresses. */
const MAX_LENGTH = 128;

/** Returns a key that stands for the text: the text, or the hash of a longer one. Strangers can choose texts of 16 KB. */
export function boundedKey(text: string, maxLength = MAX_LENGTH): string {
  return text.length <= maxLength ? text : hash('sha256', text, 'base64');
}
