import type { IncomingMessage, ServerResponse } from 'node:http';

/** Bytes of an unread body that the service discards to keep the connection usable. */
const MAX_DISCARDED = 65_536;
/**
 * Milliseconds between the response and closing the connection. A client that is still sending might otherwise miss the
 * response.
 */
const CLOSE_DELAY = 1_000;

/** Returns whether the request has a body (RFC 9112, section 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Returns whether the rest of the body is too long, or of unknown length, so that receiving and discarding it is not
 * worthwhile.
 */
export function isTooLongToDiscard(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false;
  return !(Number(request.headers['content-length']) <= MAX_DISCARDED);
}

/**
 * Closes the connection after a response to a request whose long body has not been read. Node.js would receive the
 * whole body to keep the connection. Call it before the headers are sent.
 */
export function closeIfUnread(request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent || !isTooLongToDiscard(request)) return;
  response.setHeader('Connection', 'close');
  const { socket } = request;
  // Node.js calls this function after the response. Its own version would reset the connection while the client is
  // sending.
  socket.destroySoon = () => {
    request.pause();
    socket.end();
    setTimeout(() => socket.destroy(), CLOSE_DELAY).unref();
  };
}
