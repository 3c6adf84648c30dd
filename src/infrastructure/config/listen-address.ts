import { once } from 'node:events';
import { createServer } from 'node:net';
import { Logger } from '@nestjs/common';

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
