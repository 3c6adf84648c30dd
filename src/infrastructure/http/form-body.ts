import type { Request, Response } from 'express';
import { INVALID_FIELD } from '../errors/index.js';
import { BodyReader } from './request-body.js';

/** Bytes. The longest form holds a password and two tokens. */
const FORM_LIMIT = 16_384;
const FORM_MEDIA_TYPE = /^application\/x-www-form-urlencoded\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?$/i;

const FORM = 'application/x-www-form-urlencoded';
const reader = new BodyReader(FORM_LIMIT, () => INVALID_FIELD.error('The request body is not complete.'));

/** The fields of a form. */
export class FormFields {
  constructor(private readonly fields: URLSearchParams) {}

  /** Returns the value of a field, or undefined if it is absent or empty (RFC 6749, section 3.1). */
  get(name: string): string | undefined {
    return this.fields.get(name) || undefined;
  }

  /** Returns all values of a field that may appear several times. */
  all(name: string): string[] {
    return this.fields.getAll(name).filter(Boolean);
  }

  /** Returns the fields that are not empty. Fields whose names end with `[]` become arrays without the brackets. */
  values(): Record<string, string | string[]> {
    const names = [...new Set(this.fields.keys())].filter((name) => this.get(name) !== undefined);
    return Object.fromEntries(
      names.map((name) =>
        name.endsWith('[]') ? [name.slice(0, -2), this.all(name)] : [name, this.get(name) ?? ''],
      ),
    );
  }

  /** The name of a field that was sent more than once, which OAuth forbids (RFC 6749, section 3.1). */
  get repeated(): string | undefined {
    const seen = new Set<string>();
    for (const name of this.fields.keys()) {
      if (seen.has(name)) return name;
      seen.add(name);
    }
    return undefined;
  }
}

/** @throws ApiError INVALID_FIELD for another content type, PAYLOAD_TOO_LARGE beyond 16 KiB */
export async function readForm(request: Request, response: Response): Promise<FormFields> {
  if (!FORM_MEDIA_TYPE.test(request.headers['content-type'] ?? '')) {
    throw INVALID_FIELD.error(`The request body must be ${FORM}.`);
  }
  const text = (await reader.receive(request, response)).toString('utf8');
  const fields = new URLSearchParams(text);
  if ([...fields].flat().some((part) => part.includes('\0'))) {
    throw INVALID_FIELD.error('The request body must not contain null characters.');
  }
  return new FormFields(fields);
}
