import { TextDecoder } from 'node:util';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { HOUR, SECOND } from '../time/index.js';

export interface ResponseText {
  readonly text: string;
  /** False if the body is longer, or its end did not arrive. */
  readonly isComplete: boolean;
  readonly isTooLong?: boolean;
}

type Body = Dispatcher.ResponseData['body'];
type Headers = Dispatcher.ResponseData['headers'];

/** A body without a type is read too, because simple receivers send none. */
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|[\w.-]+\+(?:json|xml))(?:$|[;\s]))|^$/i;
/** Control characters that texts do not contain. They contain tabs, line breaks, form feeds and escape sequences. */
// oxlint-disable-next-line no-control-regex
const NOT_TEXT = /[\u0000-\u0008\u000E-\u001A\u001C-\u001F\u007F]/;

/** Pieces of a response beyond its size. Real servers write hundreds of bytes at a time. */
const MAX_SMALL_PIECES = 512;
const BYTES_PER_PIECE = 64;

/** Returns whether a response arrives in more pieces (packets, TLS records, chunks) than any server needs. Each costs microseconds. */
export function hasTooManyPieces(pieces: number, bytes: number): boolean {
  return pieces > MAX_SMALL_PIECES + bytes / BYTES_PER_PIECE;
}

export interface ReadBody {
  readonly text: ResponseText | null;
  /** Why a document cannot be read; null if its text is complete, and for other bodies. */
  readonly problem: string | null;
}

/**
 * Reads the beginning of a body that may be anything. If it is longer than the limit, the connection is closed. Never rejects.
 *
 * @param limit in bytes
 * @returns no text if the body is not text in UTF-8
 */
export async function readText(headers: Headers, body: Body, limit: number): Promise<ReadBody> {
  const { bytes, isComplete, isTooLong } = await readStart(body, limit);
  const isPlain = encodingOf(headers) === 'identity';
  if (!isPlain || !TEXT_TYPE.test(valueOf(headers, 'content-type'))) return { text: null, problem: null };
  const text = decoded(bytes, 'utf-8', isComplete);
  if (text === undefined) return { text: null, problem: null };
  return { text: { text, isComplete, ...(isTooLong && { isTooLong }) }, problem: null };
}

const CUT_OFF = 'The connection was closed before the end of the document.';
const DECOMPRESS = {
  identity: (bytes: Buffer, _options: object) => bytes,
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
} as const;

/** Reads a body that is not wanted, so that the connection can be used again, under the same limit. Never rejects. */
export async function discard(body: Body, limit: number): Promise<ReadBody> {
  await readStart(body, limit);
  return { text: null, problem: null };
}

/**
 * Reads a document that was asked for, whatever its media type says: what reads it recognizes other content. Never rejects.
 *
 * @param limit in bytes, also after decompression
 * @returns an incomplete text if the end of the document did not arrive
 */
export async function readDocument(headers: Headers, body: Body, limit: number): Promise<ReadBody> {
  const { bytes, isComplete, isTooLong } = await readStart(body, limit);
  const unreadable = (problem: string): ReadBody => ({ text: null, problem });
  const tooLong = `The document is larger than ${limit / 1024} KiB.`;
  if (isTooLong) return unreadable(tooLong);
  if (!isComplete) return { text: { text: '', isComplete }, problem: CUT_OFF };
  const encoding = encodingOf(headers);
  if (!Object.hasOwn(DECOMPRESS, encoding))
    return unreadable('The document has a content encoding that the service does not know.');
  let plain: Buffer;
  try {
    plain = DECOMPRESS[encoding as keyof typeof DECOMPRESS](bytes, { maxOutputLength: limit });
  } catch (error) {
    const isLimit = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return unreadable(isLimit ? tooLong : 'The document cannot be decompressed.');
  }
  const text = decoded(plain, characterSetOf(plain, valueOf(headers, 'content-type')), true);
  if (text === undefined) return unreadable('The document is not text in its character set.');
  return { text: { text, isComplete: true }, problem: null };
}

/** Returns the character set of a document: as its first bytes, its media type, or its XML declaration say, or UTF-8. */
function characterSetOf(bytes: Buffer, type: string): string {
  const start = bytes.subarray(0, 200).toString('latin1');
  if (start.startsWith('\xef\xbb\xbf')) return 'utf-8';
  if (start.startsWith('\xff\xfe')) return 'utf-16le';
  if (start.startsWith('\xfe\xff')) return 'utf-16be';
  return (
    /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ??
    /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1] ??
    'utf-8'
  );
}

function encodingOf(headers: Headers): string {
  return valueOf(headers, 'content-encoding').toLowerCase() || 'identity';
}

function readStart(
  body: Body,
  limit: number,
): Promise<{ bytes: Buffer; isComplete: boolean; isTooLong: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    body
      .on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > limit || hasTooManyPieces(chunks.length, length)) body.destroy();
      })
      .on('error', () => undefined)
      .on('close', () => {
        const isTooLong = length > limit;
        const isComplete = body.readableEnded && !isTooLong;
        resolve({ bytes: Buffer.concat(chunks).subarray(0, limit), isComplete, isTooLong });
      });
  });
}

/**
 * @param isComplete if false, the last character may be incomplete and is then left out
 * @returns undefined if the bytes are not text
 */
function decoded(bytes: Buffer, characterSet: string, isComplete: boolean): string | undefined {
  try {
    const text = new TextDecoder(characterSet, { fatal: true }).decode(bytes, { stream: !isComplete });
    return NOT_TEXT.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function valueOf(headers: Headers, name: string): string {
  return [headers[name]].flat()[0]?.trim() ?? '';
}

/** Seconds. Larger values are cut to this limit. The retry schedule applies a lower limit of its own. */
export const MAX_PARSED_RETRY_AFTER = HOUR / SECOND;

/** The three date formats that recipients must accept (RFC 9110, section 5.6.7). */
const FIXED = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Returns the seconds of a `Retry-After` header (RFC 9110, section 10.2.3), rounded up, between 0 and an hour,
 * or null if the header is missing or invalid.
 */
export function retryAfterSeconds(header: string | undefined, nowMilliseconds: number): number | null {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, nowMilliseconds);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_PARSED_RETRY_AFTER);
}

function secondsUntil(date: string, nowMilliseconds: number): number {
  const isGmt = FIXED.test(date) || RFC_850.test(date);
  if (!isGmt && !ASCTIME.test(date)) return Number.NaN;
  return Math.ceil((Date.parse(isGmt ? date : `${date} GMT`) - nowMilliseconds) / SECOND);
}
