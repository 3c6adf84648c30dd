import { TextDecoder } from 'node:util';
import type { Dispatcher } from 'undici';
import { HOUR, SECOND } from '../time/index.js';

export interface ResponseText {
  readonly text: string;
  /** False if the body is longer, or its end did not arrive. */
  readonly isComplete: boolean;
}

type Body = Dispatcher.ResponseData['body'];
type Headers = Dispatcher.ResponseData['headers'];

/** A body without a type is read too, because simple receivers send none. */
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|[\w.-]+\+(?:json|xml))(?:$|[;\s]))|^$/i;
/** Control characters that texts do not contain. They contain tabs, line breaks, form feeds and escape sequences. */
// oxlint-disable-next-line no-control-regex
const NOT_TEXT = /[\u0000-\u0008\u000E-\u001A\u001C-\u001F\u007F]/;

/**
 * Reads the beginning of a body. If it is longer than the limit, the connection is closed. Never rejects.
 *
 * @param limit in bytes
 * @returns null if the body is not text in UTF-8
 */
export async function readText(headers: Headers, body: Body, limit: number): Promise<ResponseText | null> {
  const { bytes, isComplete } = await readStart(body, limit);
  const isPlain = /^(?:identity)?$/i.test(valueOf(headers, 'content-encoding'));
  if (!isPlain || !TEXT_TYPE.test(valueOf(headers, 'content-type'))) return null;
  const text = decoded(bytes, isComplete);
  return text === undefined || NOT_TEXT.test(text) ? null : { text, isComplete };
}

function readStart(body: Body, limit: number): Promise<{ bytes: Buffer; isComplete: boolean }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    body
      .on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > limit) body.destroy();
      })
      .on('error', () => undefined)
      .on('close', () => {
        const isComplete = body.readableEnded && length <= limit;
        resolve({ bytes: Buffer.concat(chunks).subarray(0, limit), isComplete });
      });
  });
}

/** @param isComplete if false, the last character may be incomplete and is then left out */
function decoded(bytes: Buffer, isComplete: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isComplete });
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
