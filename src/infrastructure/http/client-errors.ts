import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { INVALID_FIELD } from '../errors/index.js';
import { helpLink } from './help-link.js';
import { PROTECTIVE_HEADERS } from './protective-headers.js';

const REASONS: Readonly<Record<string, { status: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'The request headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'The request took too long to arrive.',
  },
};
const NOT_HTTP = { status: '400 Bad Request', message: 'The request is not valid HTTP.' };

const HEADERS = Object.entries(PROTECTIVE_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/**
 * Milliseconds between the response and closing the connection. A client that is still sending might otherwise miss the
 * response.
 */
const CLOSE_DELAY = 1_000;

/** A connection with the response that is being written to it. Node.js has no public property for this. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse<IncomingMessage> | null };

/** Responds to requests that Node.js cannot parse, which never reach Express, with the error body of the API. */
export function handleClientErrors(server: Server): void {
  const rejected = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: HttpSocket) => {
    // After the first error, everything that follows is invalid, too.
    if (error.code === 'ECONNRESET' || rejected.has(socket)) return;
    rejected.add(socket);
    reject(socket, error.code);
  });
}

/** Sends the error after the responses to earlier requests, so that the client does not mistake it for one of them. */
function reject(socket: HttpSocket, code = ''): void {
  const current = socket._httpMessage;
  if (current?.req.complete) {
    current.once('close', () => reject(socket, code));
    return;
  }
  // The previous response or the client has closed the connection.
  if (!socket.writable) return;
  if (current?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, message } = REASONS[code] ?? NOT_HTTP;
  const body = JSON.stringify(INVALID_FIELD.error(message).body);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${randomUUID()}\r\n${HEADERS}` +
      `Link: ${helpLink(INVALID_FIELD.code)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), CLOSE_DELAY).unref();
}
