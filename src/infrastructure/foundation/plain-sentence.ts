import { ConfigurationError } from '../config/index.js';
import { KeyMismatchError } from '../crypto/index.js';
import { DatabaseStartError, isDatabaseUnavailable } from '../database/index.js';

/** Errors by their names: importing the embedded database only to recognise its error would load it. */
const PLAIN_ERRORS = new Set(['EmbeddedPostgresError']);

/** What to tell an operator of an error at the start: a sentence where we have one, else the whole stack. */
export function plainSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isPlain =
    error instanceof ConfigurationError ||
    error instanceof DatabaseStartError ||
    error instanceof KeyMismatchError ||
    PLAIN_ERRORS.has(error.name);
  if (isPlain) return error.message;
  if (isDatabaseUnavailable(error)) return `The database became unreachable: ${error.message}`;
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === 'EADDRINUSE') {
    return `Port ${port} is in use. Stop what listens there, or choose another: PORT=${Number(port) + 1} npm start`;
  }
  if (code === 'EACCES' && port)
    return `Port ${port} may not be used by this user. Choose one above 1023 with PORT.`;
  if (code === 'EADDRNOTAVAIL') return `HOST=${address} is not an address of this machine.`;
  return error.stack ?? error.message;
}
