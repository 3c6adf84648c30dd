import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Pipelined requests that may wait on one connection. Real clients send far fewer. */
const MAX_WAITING = 100;

/**
 * Handles the pipelined requests of a connection one after the other. Node.js would start all of them at once: one read
 * of 64 KiB from the socket can contain 1,600 short requests, which would block other connections, and unread responses
 * would pile up in memory. Other connections are not affected. For measurements, see
 * docs/decisions/0015-protective-headers.md.
 */
export function serializeRequests(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  const addWaiting = (socket: Socket, difference: number): number => {
    const count = (waiting.get(socket) ?? 0) + difference;
    waiting.set(socket, count);
    return count;
  };
  return (request: IncomingMessage, response: ServerResponse) => {
    // A response has a socket only when it is its turn.
    if (response.socket) {
      handle(request, response);
      return;
    }
    const { socket } = request;
    if (addWaiting(socket, 1) > MAX_WAITING) {
      socket.destroy();
      return;
    }
    response.once('socket', () => {
      addWaiting(socket, -1);
      // Wait for the next turn of the event loop, so that other connections are served in between.
      setImmediate(handle, request, response);
    });
  };
}
