import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { INVALID_FIELD } from '../errors/index.js';
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

/** Milliseconds for which a caller may go on sending after the last answer: closed at once, it might miss that. */
const FAREWELL = 1_000;

/** A connection, with the answer that is written to it now: the one thing that tells, which Node.js uses alike. */
type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse<IncomingMessage> | null };

/** Answers what Node.js cannot parse as HTTP, which never reaches Express, with the same body and id as any error. */
export function handleUnparsableRequests(server: Server): void {
  const refused = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: HttpSocket) => {
    // Everything that follows what cannot be parsed cannot be either.
    if (error.code === 'ECONNRESET' || refused.has(socket)) return;
    refused.add(socket);
    refuse(socket, error.code);
  });
}

/** The calls before this one are answered first, or a caller would take this answer for theirs. */
function refuse(socket: HttpSocket, code = ''): void {
  const answer = socket._httpMessage;
  if (answer?.req.complete) {
    answer.once('close', () => refuse(socket, code));
    return;
  }
  // The last answer has closed the connection, or the caller has.
  if (!socket.writable) return;
  if (answer?.headersSent) {
    socket.destroy();
    return;
  }
  const { status, message } = REASONS[code] ?? NOT_HTTP;
  const body = JSON.stringify(INVALID_FIELD.error(message).body);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${randomUUID()}\r\n${HEADERS}` +
      `Connection: close\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), FAREWELL).unref();
}
