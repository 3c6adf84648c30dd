import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { INVALID_FIELD, UNSUPPORTED_MEDIA_TYPE } from '../errors/index.js';
import { BodyReader } from './request-body.js';

/** Bytes, after decompression: above the longest body that the fields allow, 100 names in JSON's escapes. */
const BODY_LIMIT = 524_288;
/** No body of the API is nested deeper than this; recursion elsewhere must not meet a caller's ten thousand levels. */
const DEPTH_LIMIT = 32;

const reader = new BodyReader('application/json', BODY_LIMIT, notJson);
/** RFC 8259, section 8.1: JSON between systems is UTF-8. `fatal` refuses bytes that are not. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?$/i;

/**
 * The handler's parameter that holds the JSON body. A parameter, because parameters are resolved after
 * the guards have let the caller in: a middleware would answer 400 to a body before the credentials
 * are looked at (contract, "Order of checks").
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
  if (!makeHarmless(value, DEPTH_LIMIT)) {
    throw INVALID_FIELD.error(`The request body must not be nested deeper than ${DEPTH_LIMIT} levels.`);
  }
  return value;
}

function notJson(): Error {
  return INVALID_FIELD.error('The request body is not valid JSON.');
}

/**
 * Drops members called `constructor`, which class-transformer would take for the class of their object and
 * call. Level by level rather than by recursion, which a hostile body would exhaust.
 *
 * @returns false when there are more levels than the limit
 */
function makeHarmless(root: object, limit: number): boolean {
  let level: object[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= limit) return false;
    for (const container of level) {
      if (Object.hasOwn(container, 'constructor')) Reflect.deleteProperty(container, 'constructor');
    }
    level = level
      .flatMap((container) => Object.values(container) as unknown[])
      .filter((value): value is object => typeof value === 'object' && value !== null);
  }
  return true;
}
