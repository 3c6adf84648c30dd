import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { bodyTooLarge, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';

const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
export const UNSUPPORTED_CONTENT_ENCODING =
  'The content encoding of the request body must be gzip, deflate, br or identity.';
const CONTINUE = /^100-continue$/i;
/** Bytes of an unread body that the service discards to keep the connection usable. */
const MAX_DISCARDED = 65_536;

/** Returns whether the request has a body (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
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
 * Reads request bodies up to a limit. Unlike body-parser, rejects a body that is too large without receiving the rest
 * of it.
 */
export class BodyReader {
  /**
   * @param limit bytes, of the body as sent and after decompression
   * @param broken creates the error for a body that is truncated or whose compression is invalid
   */
  constructor(
    private readonly limit: number,
    private readonly broken: () => Error,
  ) {}

  /** Returns the bytes of the body, or an empty buffer without a body. Stops at the limit. */
  async receive(request: Request, response: Response): Promise<Buffer> {
    if (!hasBody(request)) return Buffer.alloc(0);
    if (Number(request.headers['content-length']) > this.limit) throw this.tooLarge();
    const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
    const decompressor = DECOMPRESSORS.get(encoding)?.();
    if (!decompressor && encoding !== 'identity') {
      throw UNSUPPORTED_MEDIA_TYPE.error(UNSUPPORTED_CONTENT_ENCODING);
    }
    // `100 Continue` is sent only here, so a client does not send the body of a request that was rejected before.
    if (CONTINUE.test(request.headers.expect ?? '')) response.writeContinue();
    try {
      return await this.collect(request, decompressor);
    } finally {
      if (decompressor) request.unpipe(decompressor);
      decompressor?.destroy();
      if (isTooLongToDiscard(request)) request.pause();
      else request.resume();
    }
  }

  private collect(request: Request, decompressor: Transform | undefined): Promise<Buffer> {
    // The stream of a client that disconnected, for example while its request waited in a queue, emits no event any more.
    if (request.destroyed) return Promise.reject(this.broken());
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let length = 0;
      const fail = (): void => reject(this.broken());
      request.on('error', fail);
      const body = decompressor ? request.pipe(decompressor).on('error', fail) : request;
      body.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length <= this.limit) chunks.push(chunk);
        else {
          request.pause();
          reject(this.tooLarge());
        }
      });
      body.on('end', () => {
        const [first] = chunks;
        resolve(first && chunks.length === 1 ? first : Buffer.concat(chunks));
      });
    });
  }

  private tooLarge(): Error {
    return PAYLOAD_TOO_LARGE.error(bodyTooLarge(this.limit));
  }
}
