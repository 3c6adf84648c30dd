import { isDatabaseUnavailable } from '../database/index.js';
import { OperatorError } from '../errors/index.js';

/** What to tell an operator of a failure: a sentence where we have one, else the whole stack. */
export function plainSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError) return error.message;
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
