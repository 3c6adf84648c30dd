import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { INVALID_FIELD, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';
import { BodyReader } from './request-body.js';

/** Bytes after decompression. The longest valid body, with 100 names in JSON escapes, is shorter. */
const BODY_LIMIT = 524_288;
/** Levels. No valid body is nested deeper. Protects recursive code from bodies with thousands of levels. */
const DEPTH_LIMIT = 32;
/** The message about a body that cannot be parsed. */
export const NOT_JSON = 'The request body is not valid JSON.';
export const NEITHER_JSON_NOR_LINES =
  'The request body must be application/json or application/x-ndjson in UTF-8.';

const reader = new BodyReader(BODY_LIMIT, () => notJson());
/** RFC 8259, section 8.1: JSON between systems is UTF-8. `fatal` rejects other bytes. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const CHARSET = /\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/.source;
const JSON_MEDIA_TYPE = new RegExp(`^application/json${CHARSET}`, 'i');
const LINES_MEDIA_TYPE = new RegExp(`^application/x-ndjson${CHARSET}`, 'i');

/**
 * Parameter decorator for the JSON body. Nest resolves parameters after the guards, so credentials are checked
 * before the body is read (specification, "Order of checks"); see docs/decisions/0003-body-as-parameter.md.
 */
export const JsonBody = createParamDecorator((_data: unknown, context: ExecutionContext): Promise<object> => {
  const http = context.switchToHttp();
  return readJsonBody(http.getRequest<Request>(), http.getResponse<Response>());
});

/**
 * Parameter decorator for a body that is either JSON or NDJSON, whose lines become the items of an array. An invalid line
 * becomes an `ApiError`, so that the handler can process the others.
 *
 * @param member name of the array in the resulting object
 * @param limit bytes
 */
export function JsonOrLinesBody(member: string, limit: number): ParameterDecorator {
  const largeReader = new BodyReader(limit, () => notJson());
  return createParamDecorator((_data: unknown, context: ExecutionContext): Promise<object> => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const isLines = LINES_MEDIA_TYPE.test(request.headers['content-type'] ?? '');
    const parseBytes = isLines ? (bytes: Buffer) => ({ [member]: parseLines(bytes) }) : parseOrRefuseLines;
    return readBody(largeReader, request, http.getResponse<Response>(), parseBytes);
  })();
}

type Parse = (bytes: Buffer, contentType: string | undefined) => object;

/** Reads the JSON body of a request whose credentials have been checked. */
export function readJsonBody(request: Request, response: Response): Promise<object> {
  return readBody(reader, request, response, parse);
}

async function readBody(
  from: BodyReader,
  request: Request,
  response: Response,
  parseBytes: Parse,
): Promise<object> {
  const bytes = await from.receive(request, response);
  const body = bytes.length === 0 ? {} : parseBytes(bytes, request.headers['content-type']);
  request.body = body;
  return body;
}

function parse(bytes: Buffer, contentType: string | undefined, unsupported?: string): object {
  if (!contentType || !JSON_MEDIA_TYPE.test(contentType)) throw UNSUPPORTED_MEDIA_TYPE.error(unsupported);
  return parseObject(decode(bytes));
}

function parseOrRefuseLines(bytes: Buffer, contentType: string | undefined): object {
  return parse(bytes, contentType, NEITHER_JSON_NOR_LINES);
}

function parseLines(bytes: Buffer): object[] {
  const lines = decode(bytes)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    try {
      return parseObject(line, 'line');
    } catch (error) {
      return error as object;
    }
  });
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw notJson();
  }
}

function parseObject(text: string, what = 'request body'): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson(what, trailingComma(text));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw INVALID_FIELD.error(`The ${what} must be a JSON object.`);
  }
  if (!removeConstructors(value, DEPTH_LIMIT)) {
    throw INVALID_FIELD.error(`The ${what} must not be nested deeper than ${DEPTH_LIMIT} levels.`);
  }
  return value;
}

function notJson(what = 'request body', comma?: string): Error {
  const remedy = comma === undefined ? '' : ` Remove the comma before the closing bracket: ${comma}.`;
  return INVALID_FIELD.error(`The ${what} is not valid JSON.${remedy}`);
}

/** Returns where a comma precedes a closing bracket, which is allowed in JavaScript. */
function trailingComma(text: string): string | undefined {
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

/**
 * Removes members named `constructor`, because class-transformer would call their value as the class of the object.
 * Proceeds level by level, because a hostile body would exhaust the stack of a recursive function.
 *
 * @returns false if there are more levels than the limit
 */
function removeConstructors(root: object, limit: number): boolean {
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= limit) return false;
    const next: object[] = [];
    for (const container of level) {
      if (Object.hasOwn(container, 'constructor')) Reflect.deleteProperty(container, 'constructor');
      for (const value of Object.values(container) as unknown[]) {
        if (typeof value === 'object' && value !== null) next.push(value);
      }
    }
    level = next;
  }
  return true;
}
