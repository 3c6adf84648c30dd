const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** Returns whether only this machine can reach the host. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host);
}
