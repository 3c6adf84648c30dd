import type { Duplex, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Dispatcher } from 'undici';

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
 * @param limit in bytes, also after decompression: some servers compress what nobody asked them to
 * @returns no text if the body is not text in UTF-8
 */
export async function readText(headers: Headers, body: Body, limit: number): Promise<ReadBody> {
  const plain = await decompressed(headers, await readStart(body, limit), limit);
  if (!plain || !TEXT_TYPE.test(valueOf(headers, 'content-type'))) return { text: null, problem: null };
  const { isComplete, isTooLong } = plain;
  const text = decoded(plain.bytes, 'utf-8', isComplete);
  if (text === undefined) return { text: null, problem: null };
  return { text: { text, isComplete, ...(isTooLong && { isTooLong }) }, problem: null };
}

const CUT_OFF = 'The connection was closed before the end of the document.';
type Decompressor = (bytes: Buffer) => Duplex;

const DECOMPRESSORS: ReadonlyMap<string, Decompressor> = new Map<string, Decompressor>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', (bytes) => (isZlib(bytes) ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/**
 * Returns whether bytes begin with the header of zlib (RFC 1950, section 2.2). `deflate` means that format (RFC 9110, section
 * 8.4.1.2), but `DeflateStream` of .NET, for example, writes none.
 */
export function isZlib(bytes: Buffer): boolean {
  return bytes.length > 1 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE() % 31 === 0;
}

/** Returns what was sent as it was before its compression; undefined for an encoding that is not known. */
async function decompressed(headers: Headers, sent: Start, limit: number): Promise<Start | undefined> {
  const encoding = valueOf(headers, 'content-encoding').toLowerCase();
  if (encoding === '' || encoding === 'identity' || sent.bytes.length === 0) return sent;
  const stream = DECOMPRESSORS.get(encoding)?.(sent.bytes);
  if (!stream) return undefined;
  stream.end(sent.bytes);
  const { bytes, isComplete, isTooLong } = await readStart(stream, limit);
  return {
    bytes,
    isComplete: isComplete && sent.isComplete,
    isTooLong: isTooLong || sent.isTooLong,
  };
}

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
  const sent = await readStart(body, limit);
  const unreadable = (problem: string): ReadBody => ({ text: null, problem });
  const tooLong = `The document is larger than ${limit / 1024} KiB.`;
  if (sent.isTooLong) return unreadable(tooLong);
  if (!sent.isComplete) return { text: { text: '', isComplete: false }, problem: CUT_OFF };
  const plain = await decompressed(headers, sent, limit);
  if (!plain) return unreadable('The document has a content encoding that the service does not know.');
  if (plain.isTooLong) return unreadable(tooLong);
  if (!plain.isComplete) return unreadable('The document cannot be decompressed.');
  const text = decoded(plain.bytes, characterSetOf(plain.bytes, valueOf(headers, 'content-type')), true);
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

interface Start {
  readonly bytes: Buffer;
  readonly isComplete: boolean;
  readonly isTooLong: boolean;
}

function readStart(body: Readable, limit: number): Promise<Start> {
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
