import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FORBIDDEN_ADDRESS, NO_CONNECTION, REFUSED } from './transport-failure.js';

export interface Tunnel {
  readonly host: string;
  readonly port: number;
}

/** The proxy itself is at fault, not the receiver; the message is for the operator. */
export class ProxyError extends Error {}

/**
 * A connection to the host through an HTTP proxy (RFC 9110, section 9.3.6), over a connection to the proxy.
 *
 * @throws TransportError when the proxy says that the host cannot be reached, ProxyError when the proxy is
 * no proxy or does not let us in.
 */
export async function tunnelThrough(
  proxy: URL,
  connection: Socket,
  { host, port }: Tunnel,
  signal: AbortSignal,
): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const handshake = request({
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...credentialsOf(proxy) },
    createConnection: () => connection,
    signal,
  });
  try {
    const { statusCode = 0 } = await new Promise<IncomingMessage>((resolve, reject) => {
      handshake.once('connect', (answer, socket, head) => {
        // What came with the answer belongs to the tunnel.
        if (head.length > 0) socket.unshift(head);
        resolve(answer);
      });
      handshake.on('error', reject);
      handshake.end();
    });
    if (statusCode >= 200 && statusCode < 300) return connection;
    throw refusalOf(statusCode);
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function refusalOf(statusCode: number): Error {
  if (statusCode === 403) return FORBIDDEN_ADDRESS;
  if (statusCode === 504) return NO_CONNECTION;
  if (statusCode >= 500) return REFUSED;
  return new ProxyError(`The proxy of WEBHOOK_PROXY_URL answers CONNECT with ${statusCode}.`);
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
