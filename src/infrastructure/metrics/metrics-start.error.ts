import { OperatorError } from '../errors/index.js';

/** The metrics cannot be served where they should be. */
export class MetricsStartError extends OperatorError {
  constructor(cause: unknown, host: string, port: number) {
    super(sentence(cause, host, port));
  }
}

function sentence(cause: unknown, host: string, port: number): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `METRICS_PORT=${port} is in use. Every process needs a port of its own.`;
  if (code === 'EACCES') return `METRICS_PORT=${port} may not be used by this user. Choose one above 1023.`;
  if (code === 'EADDRNOTAVAIL') return `METRICS_HOST=${host} is not an address of this machine.`;
  return `The metrics cannot be served on ${host}:${port}: ${message}`;
}
