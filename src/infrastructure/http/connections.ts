import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { INVALID_FIELD } from '../errors/index.js';
import { countWith, hasBody, skipRest } from '../framework-patches/index.js';
import { helpLink } from './exception.filter.js';
import { PROTECTIVE_HEADERS } from './protective-headers.js';

/**
 * Pipelined requests that may wait on one connection. Real clients send far fewer. One with a body counts more: it costs more, and
 * RFC 9112, section 9.3.2 advises against requests after a method that is not idempotent.
 */
const MAX_WAITING = 100;
const WEIGHT_WITH_BODY = 8;
/** If the requests that wait on all connections together have this weight, only so many may wait on one. */
const MAX_WAITING_TOGETHER = 400;
const MAX_WAITING_UNDER_ATTACK = 10;

/** The unfinished requests of a connection. */
interface Pipeline {
  /** The response that is being written. */
  current?: ServerResponse | undefined;
  /** The response to the latest request. */
  last?: ServerResponse | undefined;
  /** Each with its weight. */
  waiting: number;
}

const pipelines = new WeakMap<Socket, Pipeline>();
let waitingTogether = 0;

/** Returns the unfinished requests of a connection. */
function pipelineOf(socket: Socket): Pipeline {
  const found = pipelines.get(socket);
  if (found) return found;
  const pipeline: Pipeline = { waiting: 0 };
  pipelines.set(socket, pipeline);
  socket.once('close', () => (waitingTogether -= pipeline.waiting));
  return pipeline;
}

/**
 * Handles the pipelined requests of a connection one after the other. Node.js would start all of them at once: one read
 * of 64 KiB from the socket can contain 1,600 short requests, which would block other connections, and unread responses
 * would pile up in memory. Other connections are not affected. For measurements, see
 * docs/decisions/0015-protective-headers.md.
 */
export function serializeRequests(handle: RequestListener): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const pipeline = pipelineOf(socket);
    const previous = pipeline.last;
    pipeline.last = response;
    response.once('close', () => {
      if (pipeline.current === response) pipeline.current = undefined;
      if (pipeline.last === response) pipeline.last = undefined;
    });
    if (!previous) {
      pipeline.current = response;
      handle(request, response);
      return;
    }
    const weight = hasBody(request) ? WEIGHT_WITH_BODY : 1;
    pipeline.waiting += weight;
    waitingTogether += weight;
    countWith(previous.req, request);
    if (
      pipeline.waiting > (waitingTogether > MAX_WAITING_TOGETHER ? MAX_WAITING_UNDER_ATTACK : MAX_WAITING)
    ) {
      skipRest(socket);
      socket.destroy();
      return;
    }
    previous.once('close', () => {
      if (socket.destroyed) return;
      pipeline.waiting -= weight;
      waitingTogether -= weight;
      pipeline.current = response;
      // Wait for the next turn of the event loop, so that other connections are served in between.
      setImmediate(handle, request, response);
    });
  };
}

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

/** Responds to requests that Node.js cannot parse, which never reach Express, with the error body of the API. */
export function handleClientErrors(server: Server): void {
  const rejected = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // After the first error, everything that follows is invalid, too.
    if (error.code === 'ECONNRESET' || rejected.has(socket)) return;
    rejected.add(socket);
    reject(socket, error.code);
  });
}

/** Sends the error after the responses to earlier requests, so that the client does not mistake it for one of them. */
function reject(socket: Socket, code = ''): void {
  const current = pipelines.get(socket)?.current;
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
  // Otherwise, Node.js would receive what follows, and report it again.
  socket.pause();
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
