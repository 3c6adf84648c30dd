import { isDatabaseUnavailable } from '../database/index.js';
import { OperatorError } from '../errors/index.js';

/** Returns the text to show an operator for an error: an explanation of a known problem, otherwise the stack. */
export function operatorMessageFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError) return error.message;
  if (isDatabaseUnavailable(error))
    return `The database became unreachable: ${error.message}. Start the program again when the database is available.`;
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === 'EADDRINUSE') {
    return `Port ${port} is in use. Stop the program that listens there, or choose another port: PORT=${Number(port) + 1} npm start`;
  }
  if (code === 'EACCES' && port) {
    return `This user is not allowed to listen on port ${port}. Set PORT to a number above 1023.`;
  }
  if (code === 'EADDRNOTAVAIL')
    return `HOST=${address} is not an address of this machine. Set HOST to one of its addresses, or to 0.0.0.0 for all.`;
  return error.stack ?? error.message;
}
