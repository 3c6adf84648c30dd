import { OperatorError } from '../errors/index.js';

/** The metrics server cannot listen on the configured address. */
export class MetricsStartError extends OperatorError {
  constructor(cause: unknown, host: string, port: number) {
    super(messageFor(cause, host, port));
  }
}

function messageFor(cause: unknown, host: string, port: number): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `METRICS_PORT=${port} is in use. Every process needs its own port.`;
  if (code === 'EACCES')
    return `METRICS_PORT=${port} is not allowed for this user. Choose a port above 1023.`;
  if (code === 'EADDRNOTAVAIL') return `METRICS_HOST=${host} is not an address of this machine.`;
  return `The metrics cannot be served on ${host}:${port}: ${message}`;
}
