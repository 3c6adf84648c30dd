import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Calls that may wait on one connection for the one before them: no client of ours sends so far ahead. */
const MAX_WAITING = 100;

/**
 * Lets the next call of a connection begin when the answer before it has left. Node.js would begin all that have
 * arrived: 64 KiB of the shortest calls are 1,600, before anybody else has a turn, and answers that nobody takes
 * would pile up. Costs nothing where nothing waits, which is nearly always.
 */
export function oneAtATime(begin: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  const change = (socket: Socket, by: number): number => {
    const count = (waiting.get(socket) ?? 0) + by;
    waiting.set(socket, count);
    return count;
  };
  return (request: IncomingMessage, response: ServerResponse) => {
    // An answer has the connection when it is its turn.
    if (response.socket) {
      begin(request, response);
      return;
    }
    const { socket } = request;
    if (change(socket, 1) > MAX_WAITING) {
      socket.destroy();
      return;
    }
    response.once('socket', () => {
      change(socket, -1);
      // Not at once, so that other connections have their turn.
      setImmediate(begin, request, response);
    });
  };
}
