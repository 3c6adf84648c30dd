import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';
import type { Request, Response } from 'express';
import { bodyTooLarge, INVALID_FIELD, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';
import { isZlib } from '../http-client/index.js';
import { hasBody, isScattered, isTooLongToDiscard } from '../framework-patches/index.js';
import { SECOND } from '../time/index.js';
import { BodyTurns, freeBuffer } from './body-turns.js';

type Decompress = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>;

const inflated: Decompress = promisify(inflate);
const inflatedRaw: Decompress = promisify(inflateRaw);
const DECOMPRESSORS: ReadonlyMap<string, Decompress> = new Map<string, Decompress>([
  ['gzip', promisify(gunzip)],
  // An old name of the same (RFC 9110, section 8.4.1.3).
  ['x-gzip', promisify(gunzip)],
  ['deflate', (bytes, options) => (isZlib(bytes) ? inflated : inflatedRaw)(bytes, options)],
  ['br', promisify(brotliDecompress)],
]);
export const UNSUPPORTED_CONTENT_ENCODING =
  'The content encoding of the request body must be gzip, deflate, br or identity.';
/** Each decompression takes milliseconds, and memory for its window: 20 at once took 79 MB (`bench/hostile-input.mjs`). */
const decompressions = new BodyTurns(2);
/** Bytes that are decompressed before others get their turn. */
const CHUNK_SIZE = 65_536;
/** Bytes. Most bodies have fewer, and are copied once. */
const MIN_CAPACITY = 8_192;
const EMPTY: Buffer = Buffer.alloc(0);
/** Milliseconds. A request may wait as long for a lock. */
const SLOW = SECOND;
const slowBodies = new WeakSet<Request>();

/** Returns whether the body of the request took so long to arrive that what was checked before it may have changed. */
export function isSlowBody(request: Request): boolean {
  return slowBodies.has(request);
}

/** Codings that change nothing. Some clients name the encoding of the text here. */
const NO_CODING: ReadonlySet<string> = new Set(['', 'identity', 'utf-8', 'none']);

/** Returns the codings of the body, in the order in which they were applied (RFC 9110, section 8.4). */
function encodingsOf({ headers }: Request): string[] {
  const { 'content-encoding': codings } = headers;
  if (codings === undefined) return [];
  const names = codings.toLowerCase().split(',');
  return names.map((name) => name.trim()).filter((name) => !NO_CODING.has(name));
}

/** The message about a body that cannot be decompressed. */
export const NOT_COMPRESSED =
  'The request body is not compressed as the Content-Encoding header says, or is not complete.';
const SCATTERED = 'The request body has too many small chunks. Send larger chunks.';
const CONTINUE = /^100-continue$/i;

/**
 * Reads request bodies up to a limit. Unlike body-parser, rejects a body that is too large without receiving the rest
 * of it.
 */
export class BodyReader {
  /** @param limit bytes, of the body as sent and after decompression */
  constructor(private readonly limit: number) {}

  /** Returns the bytes of the body, or an empty buffer without a body. Stops at the limit. */
  async receive(request: Request, response: Response): Promise<Buffer> {
    if (!hasBody(request)) return EMPTY;
    if (Number(request.headers['content-length']) > this.limit) throw this.tooLarge();
    const [encoding, ...others] = encodingsOf(request);
    const decompress = encoding === undefined ? undefined : DECOMPRESSORS.get(encoding);
    if (others.length > 0 || (encoding !== undefined && !decompress)) {
      throw UNSUPPORTED_MEDIA_TYPE.error(UNSUPPORTED_CONTENT_ENCODING);
    }
    // `100 Continue` is sent only here, so a client does not send the body of a request that was rejected before.
    if (CONTINUE.test(request.headers.expect ?? '')) response.writeContinue();
    const startedAt = performance.now();
    try {
      const bytes = await this.collect(request);
      if (!decompress) return bytes;
      return await decompressions.run(request, () => this.decompressed(bytes, decompress));
    } finally {
      if (performance.now() - startedAt >= SLOW) slowBodies.add(request);
      if (isTooLongToDiscard(request)) request.pause();
      else request.resume();
    }
  }

  /** Copies the pieces into one buffer as they arrive. */
  private collect(request: Request): Promise<Buffer> {
    // The stream of a client that disconnected, for example while its request waited in a queue, emits no event any more.
    if (request.destroyed) return Promise.reject(incompleteBody());
    return new Promise((resolve, reject) => {
      let bytes = EMPTY;
      let length = 0;
      const stop = (error: Error): void => {
        request.pause();
        reject(error);
      };
      request.on('error', () => reject(incompleteBody()));
      request.on('data', (piece: Buffer) => {
        const start = length;
        length += piece.length;
        if (length > this.limit) return stop(this.tooLarge());
        if (start === 0) {
          bytes = piece;
          return undefined;
        }
        if (length > bytes.length) {
          const smaller = bytes;
          bytes = Buffer.concat([smaller], this.capacity(request, length));
          freeBuffer(smaller);
        }
        piece.copy(bytes, start);
        freeBuffer(piece);
        return isScattered(request) ? stop(INVALID_FIELD.error(SCATTERED)) : undefined;
      });
      request.on('end', () => {
        resolve(bytes.subarray(0, length));
        bytes = EMPTY;
      });
    });
  }

  /**
   * Room for twice as many bytes as have arrived, up to the length that the client announced: nobody gets memory for bytes that are only
   * announced.
   */
  private capacity({ headers }: Request, length: number): number {
    const most = Number(headers['content-length'] ?? this.limit);
    return Math.max(length, Math.min(2 * Math.max(length, MIN_CAPACITY), most));
  }

  private async decompressed(bytes: Buffer, decompress: Decompress): Promise<Buffer> {
    try {
      return await decompress(bytes, { maxOutputLength: this.limit, chunkSize: CHUNK_SIZE });
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
        ? this.tooLarge()
        : INVALID_FIELD.error(NOT_COMPRESSED);
    }
  }

  private tooLarge(): Error {
    return PAYLOAD_TOO_LARGE.error(bodyTooLarge(this.limit), { limit: this.limit });
  }
}

/** Returns the error for a body of which only a part arrived. */
export function incompleteBody(): Error {
  return INVALID_FIELD.error('The request body is not complete.');
}
