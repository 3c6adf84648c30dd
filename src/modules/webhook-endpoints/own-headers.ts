import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Field, HasValidContents, MESSAGES, ObjectField } from '../../infrastructure/validation/index.js';

/** The values of an endpoint's own headers by name. In a change, null removes a header. */
export type HeaderChanges = Readonly<Record<string, string | null>>;

export const MAX_HEADERS = 10;
const MAX_NAME_LENGTH = 100;
/** Characters, which are bytes. */
const MAX_VALUE_LENGTH = 1_024;

/** Stricter than the token of RFC 9110, section 5.6.2, because gateways drop other names. */
const NAME = /^[A-Za-z][\w.-]*$/;
/** Visible ASCII with spaces inside. Anything else could end the header, or mean something else to another server. */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;
/** Headers that the service sends, and headers about the connection and the content (RFC 9110, sections 7.6.1, 7.8 and 8). */
const RESERVED =
  /^(?:webhook-.*|service-signature|encryption-type|user-agent|accept|traceparent|tracestate|host|content-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|http2-settings)$/i;

const VALUES = { type: 'string', minLength: 1, maxLength: MAX_VALUE_LENGTH, pattern: VALUE.source };

/** @param removal whether null removes a header */
export function HeadersField(description: string, removal: 'removal' | 'values only'): PropertyDecorator {
  const isChange = removal === 'removal';
  return ObjectField(
    {
      required: false,
      ...(isChange && { clearable: true as const }),
      members: {
        additionalProperties: { ...VALUES, ...(isChange && { nullable: true }) },
        maxProperties: MAX_HEADERS,
      },
      description,
      example: { 'X-Api-Key': 'a key of your gateway' },
    },
    HasValidContents((headers, field) => validateHeaders(headers as HeaderChanges, field, isChange)),
  );
}

/** The own headers of an endpoint in a form: lines such as `X-Api-Key: value`. */
export function HeaderLinesField(): PropertyDecorator {
  return Field(
    { in: 'form', required: false, schema: { type: String } as ApiPropertyOptions, keepsBlank: true },
    HasValidContents((lines, field) => {
      const refused = linesOf(lines as string).findIndex(
        (line) => line.trim() !== '' && !NAME.test(HEADER_LINE.exec(line)?.[1] ?? ''),
      );
      if (refused >= 0)
        return `Line ${refused + 1} of the ${field} field must be a name of letters, digits, hyphens, underscores and dots, a colon and a value, such as “X-Api-Key: value”.`;
      return validateHeaders(headersIn(lines as string) ?? {}, field, true);
    }),
  );
}

const HEADER_LINE = /^\s*([^\s:]+)\s*:(.*)$/s;
const linesOf = (text: string): string[] => String(text).split(/\r?\n/);

/** Returns the headers in lines; a name without a value removes the header. Returns undefined for a line without a name. */
export function headersIn(lines = ''): HeaderChanges | undefined {
  const pairs = linesOf(lines)
    .filter((line) => line.trim() !== '')
    .map((line) => HEADER_LINE.exec(line));
  if (pairs.includes(null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2]?.trim() || null]));
}

/** Returns the headers after a change, by name without regard to case; the names are those of the last change. */
export function mergeHeaders(
  headers: Readonly<Record<string, string>>,
  changes: HeaderChanges,
): Record<string, string> {
  const byName = new Map(Object.entries(headers).map((pair) => [pair[0].toLowerCase(), pair]));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) byName.delete(name.toLowerCase());
    else byName.set(name.toLowerCase(), [name, value]);
  }
  return Object.fromEntries(byName.values());
}

/** Returns the message about headers that cannot be sent. It shows no value, because values are secret. */
function validateHeaders(headers: HeaderChanges, field: string, isChange: boolean): string | undefined {
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) return MESSAGES.maxKeys(field, MAX_HEADERS);
  const repeated = names.find((name, index) =>
    names.some((other, at) => at < index && other.toLowerCase() === name.toLowerCase()),
  );
  if (repeated !== undefined && NAME.test(repeated))
    return `The ${field} field has the header ${repeated.slice(0, MAX_NAME_LENGTH)} more than once.`;
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || name.length > MAX_NAME_LENGTH)
      return `The names in the ${field} field must have at most ${MAX_NAME_LENGTH} letters, digits, hyphens, underscores and dots, and begin with a letter.`;
    if (RESERVED.test(name)) return `The ${field} field must not have the header ${name}, which is reserved.`;
    if (value === null && isChange) continue;
    if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH || !VALUE.test(value))
      return `The value of ${name} in the ${field} field must have 1 to ${MAX_VALUE_LENGTH} visible ASCII characters, and no spaces at its ends.`;
  }
  return undefined;
}
