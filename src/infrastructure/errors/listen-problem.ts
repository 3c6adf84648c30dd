import { OperatorError } from './api-error.js';

/** Returns why a server cannot listen. The error of Node.js names no setting. */
export function listenProblem(
  cause: unknown,
  { host, port, prefix = '' }: { host: string; port: number; prefix?: string },
): OperatorError {
  const [hostName, portName] = [`${prefix}HOST`, `${prefix}PORT`];
  const { code, message } = cause as NodeJS.ErrnoException;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `${portName}=${port} is in use. Stop the program that listens there, or set ${portName} to another port.`,
    EACCES: `${portName}=${port} is not allowed for this user. Choose a port above 1023.`,
    EADDRNOTAVAIL: `${hostName}=${host} is not an address of this machine. Set ${hostName} to one of its addresses, or to 0.0.0.0 for all.`,
    ENOTFOUND: `${hostName}=${host} is not known to this machine. Set ${hostName} to one of its addresses, or to 0.0.0.0 for all.`,
  };
  const sentence = sentences[code === 'EAI_AGAIN' ? 'ENOTFOUND' : (code ?? '')];
  return new OperatorError(
    sentence ?? `The service cannot listen on ${hostName}=${host} and ${portName}=${port}: ${message}`,
  );
}
