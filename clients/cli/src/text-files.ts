import { readFileSync } from 'node:fs';
import { usage } from './failures.js';

/** Reads a text, also from Windows: its shells and editors write UTF-16, or UTF-8 with a byte order mark. */
export function readText(file: string | number): string {
  const bytes = readFileSync(file);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}

/** Reads the file that an option names. @throws Failure if it cannot be read */
export function textIn(file: string): string {
  try {
    return readText(file);
  } catch (error) {
    throw usage(`${file} cannot be read: ${(error as Error).message}`);
  }
}
