import { ServerResponse, type IncomingMessage } from 'node:http';

/** Bytes of an unread body that the service discards to keep the connection usable. */
const MAX_DISCARDED = 65_536;
/**
 * Milliseconds between a response to an unfinished request and closing the connection. A client that is still sending might
 * otherwise miss the response.
 */
const CLOSE_DELAY = 900;
const NO_CONTENT = new Set([204, 304]);

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

type EndArguments = [chunk?: unknown, encoding?: unknown, callback?: unknown];

/**
 * Written for Node.js 20 to 24. Evidence: docs/decisions/0041-hostile-input.md.
 *
 * Creates a class of responses that close the connection soon after the response if the request has not ended. Node.js would
 * receive the rest of its body for up to 30 s, as fast as the client sends it. It would reset a connection that is closed while
 * the client is sending, so the response is sent before it ends.
 *
 * A class for each server, because Express changes the prototypes of the class that it gets.
 */
export function createResponseClass(): typeof ServerResponse {
  return class Response<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    private isEnding = false;

    override end(...parameters: EndArguments): this {
      const { req: request } = this;
      if (this.isEnding) return this;
      if (request.complete || !hasBody(request)) return this.endNow(parameters);
      if (!isTooLongToDiscard(request)) {
        const closing = setTimeout(() => request.complete || request.socket.destroy(), CLOSE_DELAY).unref();
        request.once('close', () => clearTimeout(closing));
        return this.endNow(parameters);
      }
      this.isEnding = true;
      const callback = parameters.find((each) => typeof each === 'function');
      const [chunk, encoding] = parameters.filter((each) => each !== callback) as [string?, BufferEncoding?];
      if (!this.headersSent) this.announce(chunk ?? '', encoding);
      if (chunk) this.write(chunk, encoding as BufferEncoding);
      setTimeout(() => {
        this.endNow([callback]);
        request.socket.destroySoon();
      }, CLOSE_DELAY);
      return this;
    }

    private endNow(parameters: EndArguments): this {
      return super.end(...(parameters as [unknown, BufferEncoding]));
    }

    private announce(content: string | Buffer, encoding?: BufferEncoding): void {
      this.setHeader('Connection', 'close');
      const hasContent = this.req.method !== 'HEAD' && !NO_CONTENT.has(this.statusCode);
      if (hasContent && !this.hasHeader('Content-Length') && !this.hasHeader('Transfer-Encoding'))
        this.setHeader('Content-Length', Buffer.byteLength(content, encoding));
      this.flushHeaders();
    }
  };
}
