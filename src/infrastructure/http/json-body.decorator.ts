import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { INVALID_FIELD, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';
import { BodyReader } from './request-body.js';

/** Bytes after decompression. The longest valid body, with 100 names in JSON escapes, is shorter. */
const BODY_LIMIT = 524_288;
/** Levels. No valid body is nested deeper. Protects recursive code from bodies with thousands of levels. */
const DEPTH_LIMIT = 32;

const reader = new BodyReader(BODY_LIMIT, notJson);
/** RFC 8259, section 8.1: JSON between systems is UTF-8. `fatal` rejects other bytes. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;

/**
 * Parameter decorator for the JSON body. Nest resolves parameters after the guards, so credentials are checked
 * before the body is read (specification, "Order of checks"); see docs/decisions/0003-body-as-parameter.md.
 */
export const JsonBody = createParamDecorator((_data: unknown, context: ExecutionContext): Promise<object> => {
  const http = context.switchToHttp();
  return readJsonBody(http.getRequest<Request>(), http.getResponse<Response>());
});

async function readJsonBody(request: Request, response: Response): Promise<object> {
  const bytes = await reader.receive(request, response);
  const body = bytes.length === 0 ? {} : parse(bytes, request.headers['content-type']);
  request.body = body;
  return body;
}

function parse(bytes: Buffer, contentType: string | undefined): object {
  if (!contentType || !JSON_MEDIA_TYPE.test(contentType)) throw UNSUPPORTED_MEDIA_TYPE.error();
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    throw notJson();
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw INVALID_FIELD.error('The request body must be a JSON object.');
  }
  if (!removeConstructors(value, DEPTH_LIMIT)) {
    throw INVALID_FIELD.error(`The request body must not be nested deeper than ${DEPTH_LIMIT} levels.`);
  }
  return value;
}

function notJson(): Error {
  return INVALID_FIELD.error('The request body is not valid JSON.');
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
