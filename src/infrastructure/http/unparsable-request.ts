import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { INVALID_FIELD } from '../errors/index.js';

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

/** Answers what Node.js cannot parse as HTTP, which never reaches Express, with the same body and id as any error. */
export function answerUnparsableRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, message } = REASONS[error.code ?? ''] ?? NOT_HTTP;
    const body = JSON.stringify(INVALID_FIELD.error(message).body);
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${randomUUID()}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
  });
}
