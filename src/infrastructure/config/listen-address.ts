import { once } from 'node:events';
import { createServer } from 'node:net';
import { Logger } from '@nestjs/common';
import { OperatorError } from '../errors/index.js';

/** The errors of systems without IPv6: the kernel has none, a sandbox forbids it, or no interface has an address. */
const NO_IPV6: readonly unknown[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT'];

/**
 * Returns the address to listen on: the given one, but on a machine without IPv6, all IPv4 addresses instead of all addresses.
 *
 * @param variable the name of the setting, for the log
 */
export async function availableAddress(host: string, variable: string): Promise<string> {
  if (host !== '::') return host;
  const server = createServer().listen(0, host);
  try {
    await once(server, 'listening');
    return host;
  } catch (error) {
    if (!NO_IPV6.includes((error as NodeJS.ErrnoException).code)) return host;
    new Logger('Service').warn(`This machine has no IPv6: ${variable} is 0.0.0.0 instead of ::.`);
    return '0.0.0.0';
  } finally {
    server.close();
  }
}

/** Returns why a server cannot listen. The error of Node.js names no setting. */
export function listenProblem(
  cause: unknown,
  { host, port, prefix = '' }: { host: string; port: number; prefix?: string },
): OperatorError {
  const hostName = `${prefix}HOST`;
  const portName = `${prefix}PORT`;
  const { code, message } = cause as NodeJS.ErrnoException;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `${portName}=${port} is in use. Stop the program that listens there, or set ${portName} to another port.`,
    EACCES: `${portName}=${port} is not allowed for this user. Choose a port above 1023.`,
    EADDRNOTAVAIL: `${hostName}=${host} is not an address of this machine. Set ${hostName} to one of its addresses, or to 0.0.0.0 for all.`,
    ENOTFOUND: `${hostName}=${host} is not known to this machine. Set ${hostName} to one of its addresses, or to 0.0.0.0 for all.`,
  };
  const same: Readonly<Record<string, string>> = { EAI_AGAIN: 'ENOTFOUND', EAFNOSUPPORT: 'EADDRNOTAVAIL' };
  const sentence = sentences[same[code ?? ''] ?? code ?? ''];
  return new OperatorError(
    sentence ?? `The service cannot listen on ${hostName}=${host} and ${portName}=${port}: ${message}`,
  );
}
