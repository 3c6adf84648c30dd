import { Injectable, mixin, type CanActivate, type ExecutionContext, type Type } from '@nestjs/common';
import { isObject } from 'class-validator';
import type { Request, Response } from 'express';
import { INVALID_FIELD, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';
import { inTurn } from './body-turns.js';
import { isJson, jsonSize, type JsonSize } from './json-size.js';
import { isMediaType } from './media-type.js';
import { BodyReader } from './request-body.js';

/** Bytes after decompression. The longest valid body, with 100 names in JSON escapes, is shorter. */
const BODY_LIMIT = 524_288;
/**
 * Bytes without credentials. The longest valid bodies are shorter: a job application whose 10,000 characters are written as escapes
 * (120 KB), and the registration of an agent with 100 addresses (200 KB).
 */
const STRANGERS_LIMIT = 262_144;
/** The largest valid body names 475 merchants with their IDs. */
const LIMITS: JsonSize = { values: 2_000, depth: 32 };
type BodyLimits = JsonSize & { readonly acceptsArray?: boolean };
/** Fields and items of one item of a batch, on average. */
const VALUES_PER_ITEM = 64;
/**
 * Characters of texts whose memory would matter if they were not JSON. Checking a whole batch of the platform's own services would take
 * twice as long as parsing it.
 */
const CHECKED = { min: 1_024, max: BODY_LIMIT };
/** Characters. Nobody writes a larger body by hand. */
const WRITTEN_BY_HAND = 4_096;
const LINE_FEED = 0x0a;
const BLANK = /^\s*$/;
/** The message about a body that cannot be parsed. */
export const NOT_JSON = 'The request body is not valid JSON.';
export const NEITHER_JSON_NOR_LINES =
  'The request body must be application/json or application/x-ndjson in UTF-8.';

const reader = new BodyReader(BODY_LIMIT);
const strangersReader = new BodyReader(STRANGERS_LIMIT);
/** RFC 8259, section 8.1: JSON between systems is UTF-8. `fatal` rejects other bytes. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Also the types of formats that are JSON (RFC 6839, section 3.1), which no form of another site can send. */
const JSON_MEDIA_TYPE = /^(?:text\/json|application\/(?:[\w.-]+\+)?json)$/i;
/** Only `application/x-ndjson` is documented; no media type is registered, and libraries use all of these. */
const LINES_MEDIA_TYPE = /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)$/i;

/**
 * Reads the JSON body for `@Body()`. The last guard of a route, so that credentials are checked before the body is received
 * (specification, "Order of checks"); see docs/decisions/0003-body-after-guards.md.
 */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  /** Whether the body can be an array of objects, too. */
  protected readonly acceptsArray: boolean = false;

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const from = context.switchToHttp().getRequest<Request>().user ? reader : strangersReader;
    const limits = { ...LIMITS, acceptsArray: this.acceptsArray };
    await readBody(from, context, (bytes, contentType) => parse(bytes, contentType, limits));
    return true;
  }
}

/**
 * Reads a body that is either JSON or NDJSON, whose lines become the items of an array. An invalid line becomes an `ApiError`,
 * so that the handler can process the others.
 *
 * @param member name of the array in the resulting object
 * @param limits `size` in bytes; `items` of the array
 */
export function JsonOrLinesBodyGuard(
  member: string,
  { size, items }: { readonly size: number; readonly items: number },
): Type<CanActivate> {
  const largeReader = new BodyReader(size);
  const limits = { ...LIMITS, values: items * VALUES_PER_ITEM };
  @Injectable()
  class LinesGuard implements CanActivate {
    async canActivate(context: ExecutionContext): Promise<boolean> {
      await readBody(largeReader, context, (bytes, contentType) =>
        isMediaType(contentType, LINES_MEDIA_TYPE)
          ? { [member]: parseLines(bytes, items) }
          : parse(bytes, contentType, limits, NEITHER_JSON_NOR_LINES),
      );
      return true;
    }
  }
  return mixin(LinesGuard);
}

async function readBody(
  from: BodyReader,
  context: ExecutionContext,
  parseBytes: (bytes: Buffer, contentType: string | undefined) => object,
): Promise<void> {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const bytes = await from.receive(request, http.getResponse<Response>());
  const parsed = (): object => (bytes.length === 0 ? {} : parseBytes(bytes, request.headers['content-type']));
  request.body = await inTurn(request, bytes, parsed);
}

function parse(
  bytes: Buffer,
  contentType: string | undefined,
  limits: BodyLimits,
  unsupported?: string,
): object {
  if (!isMediaType(contentType, JSON_MEDIA_TYPE)) throw UNSUPPORTED_MEDIA_TYPE.error(unsupported);
  return parseObject(bytes, limits);
}

/** @throws ApiError INVALID_FIELD if there are too many lines, blank lines included, before any of them is parsed */
function parseLines(bytes: Buffer, limit: number): object[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, start);
    const next = end < 0 ? bytes.length : end + 1;
    lines.push(bytes.subarray(start, next));
    if (lines.length > limit)
      throw INVALID_FIELD.error(`The request body must not have more than ${limit} lines.`);
    start = next;
  }
  const values = lines.reduce((sum, line) => sum + jsonSize(line, LIMITS).values, 0);
  if (values > limit * VALUES_PER_ITEM) throw tooMany('values', 'request body', limit * VALUES_PER_ITEM);
  return lines.flatMap((line) => {
    try {
      return BLANK.test(line.toString('latin1')) ? [] : [parseObject(line, LIMITS, 'line')];
    } catch (error) {
      return [error as object];
    }
  });
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw INVALID_FIELD.error(`${NOT_JSON} It is not encoded in UTF-8.`);
  }
}

/** Returns whether JSON in a text has no more values and levels than a request can have. */
export function isModestJson(text: string): boolean {
  const { values, depth } = jsonSize(Buffer.from(text), LIMITS);
  return values <= LIMITS.values && depth <= LIMITS.depth;
}

function parseObject(bytes: Buffer, limits: BodyLimits, what = 'request body'): object {
  const size = jsonSize(bytes, limits);
  for (const limit of ['values', 'depth'] as const) {
    if (size[limit] > limits[limit]) throw tooMany(limit, what, limits[limit]);
  }
  const text = decode(bytes);
  const isChecked = text.length > CHECKED.min && text.length <= CHECKED.max;
  if (isChecked && !isJson(text)) throw notJson(what, trailingComma(text));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson(what, trailingComma(text));
  }
  const isArray =
    limits.acceptsArray && Array.isArray(value) && value.length > 0 && value.every((each) => isObject(each));
  if (!isObject(value) && !isArray) {
    throw INVALID_FIELD.error(`The ${what} must be a JSON object.`);
  }
  return value as object;
}

function tooMany(what: keyof JsonSize, where: string, limit: number): Error {
  const rule = {
    values: `have more than ${limit} fields and items`,
    depth: `be nested deeper than ${limit} levels`,
  };
  return INVALID_FIELD.error(`The ${where} must not ${rule[what]}.`);
}

function notJson(what = 'request body', comma?: string): Error {
  const remedy = comma === undefined ? '' : ` Remove the comma before the closing bracket: ${comma}.`;
  return INVALID_FIELD.error(`The ${what} is not valid JSON.${remedy}`);
}

/** Returns where a comma precedes a closing bracket, which is allowed in JavaScript. */
function trailingComma(text: string): string | undefined {
  if (text.length > WRITTEN_BY_HAND) return undefined;
  let comma: number | undefined;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (isString) {
      if (character === '\\') at += 1;
      isString = character !== '"';
    } else if (comma !== undefined && /[}\]]/.test(character)) {
      const lines = text.slice(0, comma).split('\n');
      return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
    } else if (character === ',') {
      comma = at;
    } else if (!/\s/.test(character)) {
      comma = undefined;
      isString = character === '"';
    }
  }
  return undefined;
}
