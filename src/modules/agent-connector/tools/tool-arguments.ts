import { isObject } from 'class-validator';
import { z } from 'zod';
import { parsedJson } from '../../../infrastructure/config/index.js';
import { isModestJson } from '../../../infrastructure/http/index.js';
import { isMissing, similarName } from '../../../infrastructure/validation/index.js';

type Schema = z.core.$ZodType;

/** The texts that models write for an optional argument without a value. */
const NOTHING: readonly string[] = ['', 'null', 'none', 'undefined'];
/** A text with several items is not read as one item. */
const SEVERAL = /[,;\n]/;
const INTEGER = /^\s*[+-]?\d{1,16}(?:\.0*)?\s*$/;

/**
 * Returns the `arguments` of a call as an object, if it is clear what they mean: models also send none, null, or the object as
 * JSON text. Others are returned unchanged, and refused.
 */
export function argumentsIn(value: unknown): unknown {
  if (isMissing(value)) return {};
  const read = typeof value === 'string' ? jsonIn(value) : value;
  if (!Array.isArray(read)) return isObject(read) ? read : value;
  if (read.length === 0) return {};
  return read.length === 1 && isObject(read[0]) ? read[0] : value;
}

/**
 * Returns the arguments with the types that the tool expects, where only one meaning is possible, and without optional ones that
 * have no value. Clients also send arguments of their own, such as `sessionId` and `_meta`: those that the tool does not know are
 * dropped, as `RequestValidationPipe` does, unless they look like a misspelled one, which the schema then refuses.
 */
export function readArguments(given: object, { shape }: z.ZodObject): object {
  const missing = Object.keys(shape).filter((name) => isMissing((given as Record<string, unknown>)[name]));
  const read = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const isAbsent =
      isMissing(value) || (typeof value === 'string' && NOTHING.includes(value.trim().toLowerCase()));
    if (!schema) return isAbsent || similarName(name, missing) === undefined ? [] : [[name, value]];
    const isOptional = schema.isOptional();
    return isOptional && isAbsent ? [] : [[name, readValue(value, schema)]];
  });
  return Object.fromEntries(read);
}

/** Returns the value in the type of the schema, or unchanged if its meaning is not clear. */
function readValue(value: unknown, schema: Schema): unknown {
  if (schema instanceof z.ZodOptional) return readValue(value, schema.def.innerType);
  if (schema instanceof z.ZodArray) return readArray(value, schema);
  const single = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
  if (schema instanceof z.ZodNumber)
    return typeof single === 'string' && INTEGER.test(single) ? Number(single) : single;
  if (schema instanceof z.ZodBoolean) return readBoolean(single);
  if (schema instanceof z.ZodString) return typeof single === 'number' ? String(single) : single;
  if (!(schema instanceof z.ZodObject)) return value;
  const object = typeof single === 'string' ? jsonIn(single) : single;
  return isObject(object) ? readArguments(object, schema) : value;
}

function readArray(value: unknown, { element }: z.ZodArray): unknown {
  const parsed = typeof value === 'string' ? jsonIn(value) : value;
  if (Array.isArray(parsed)) return parsed.map((item) => readValue(item, element));
  const isSingle = typeof value === 'string' ? !SEVERAL.test(value) && !isObject(parsed) : !isMissing(value);
  return isSingle ? [readValue(value, element)] : value;
}

function readBoolean(value: unknown): unknown {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return text === 'true' || (text === 'false' ? false : value);
}

/**
 * Returns the object or array in a JSON text; undefined if the text is something else, or larger than a request can be: the body of
 * the request has the text as one value.
 */
function jsonIn(text: string, beginning = /^\s*[[{"]/): unknown {
  if (!beginning.test(text) || !isModestJson(text)) return undefined;
  const value = parsedJson(text);
  // Some models encode twice.
  return typeof value === 'string' ? jsonIn(value, /^\s*[[{]/) : value;
}

/** Returns an example of the arguments with this name and the required ones, as JSON. */
export function exampleOf({ shape }: z.ZodObject, name: PropertyKey | undefined): string {
  const shown = Object.entries(shape).filter(([each, schema]) => each === name || !schema.isOptional());
  return JSON.stringify(Object.fromEntries(shown.map(([each, schema]) => [each, exampleValue(schema)])));
}

function exampleValue(schema: Schema): unknown {
  if (schema instanceof z.ZodOptional) return exampleValue(schema.def.innerType);
  if (schema instanceof z.ZodArray) return [exampleValue(schema.element)];
  if (schema instanceof z.ZodNumber) return 16;
  return schema instanceof z.ZodBoolean ? true : 'text';
}
