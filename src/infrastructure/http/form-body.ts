import { hash } from 'node:crypto';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { INVALID_FIELD } from '../errors/index.js';
import { inTurn } from './body-turns.js';
import { isMediaType, UTF8 } from './media-type.js';
import { BodyReader, incompleteBody } from './request-body.js';

/** Bytes. The longest usual form holds a password and two tokens. */
export const FORM_LIMIT = 16_384;
/** The longest form has 30 fields. */
const MAX_FIELDS = 100;
const FORM_MEDIA_TYPE = /^application\/x-www-form-urlencoded$/i;
/** A form is ASCII. The HTTP client of Apache names ISO-8859-1 in each. */
const FORM_CHARSETS = new RegExp(`${UTF8.source}|^iso-8859-1$`, 'i');
const FILES_MEDIA_TYPE = /^multipart\/form-data\s*;/i;

const BOUNDARY = /;\s*boundary="?([^";\s]{1,70})/i;

const FORM = 'application/x-www-form-urlencoded';
const FORM_WITH_FILES = 'multipart/form-data';

export interface FormOptions {
  /** Bytes of the body, 16 KiB by default. Text that is not ASCII or has many symbols takes three bytes per character. */
  readonly limit?: number;
  /** Whether the form is sent as `multipart/form-data`. */
  readonly hasFiles?: boolean;
}

/** The fields and files of a form that was sent. */
export class FormFields {
  constructor(
    private readonly fields: URLSearchParams,
    private readonly files: ReadonlyMap<string, Buffer> = new Map(),
  ) {}

  /** Returns the content of a file, or undefined if the user chose none. */
  file(name: string): Buffer | undefined {
    return this.files.get(name);
  }

  /** Returns whether the form has the field, even if it is empty. */
  has(name: string): boolean {
    return this.fields.has(name);
  }

  /** Returns the value of a field, or undefined if it is absent or empty (RFC 6749, section 3.1). */
  get(name: string): string | undefined {
    return this.fields.get(name) || undefined;
  }

  /** Returns all values of a field that may appear several times. */
  all(name: string): string[] {
    return this.fields.getAll(name).filter(Boolean);
  }

  /**
   * Returns the fields that are not empty. Fields whose names end with `[]` become arrays without the brackets; of other fields
   * that are repeated, the first one counts.
   */
  values(): Record<string, string | string[]> {
    const values = new Map<string, string | string[]>();
    for (const [name, value] of this.fields) {
      if (value === '') continue;
      const array = name.endsWith('[]') ? name.slice(0, -2) : undefined;
      const found = values.get(array ?? name);
      if (Array.isArray(found)) found.push(value);
      else if (found === undefined) values.set(array ?? name, array === undefined ? value : [value]);
    }
    return Object.fromEntries(values);
  }

  /** All fields, in their order. */
  entries(): [name: string, value: string][] {
    return [...this.fields];
  }

  /** Fields and files as text, which is equal if everything in the form is equal. */
  contents(): string[] {
    return [
      JSON.stringify(this.entries()),
      ...[...this.files].map(([name, file]) => `${name} ${hash('sha256', file)}`),
    ];
  }

  get hasNullCharacter(): boolean {
    return [...this.fields].flat().some((part) => part.includes('\0'));
  }
}

/** @throws ApiError INVALID_FIELD for another content type, PAYLOAD_TOO_LARGE beyond the limit */
export async function readForm(
  request: Request,
  response: Response,
  { limit = FORM_LIMIT, hasFiles = false }: FormOptions = {},
): Promise<FormFields> {
  const type = request.headers['content-type'] ?? '';
  if (!(hasFiles ? FILES_MEDIA_TYPE.test(type) : isMediaType(type, FORM_MEDIA_TYPE, FORM_CHARSETS))) {
    throw INVALID_FIELD.error(`The request body must be ${hasFiles ? FORM_WITH_FILES : FORM}.`);
  }
  const bytes = await new BodyReader(limit).receive(request, response);
  return inTurn(request, bytes, () => parseForm(bytes, type, hasFiles));
}

/** Reads the form of an operation as `FormFields`. Like `JsonBodyGuard`, follows the guards that check credentials. */
@Injectable()
export class FormBodyGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    request.body = await readForm(request, http.getResponse<Response>());
    return true;
  }
}

async function parseForm(bytes: Buffer, type: string, hasFiles: boolean): Promise<FormFields> {
  const separator = hasFiles ? `--${BOUNDARY.exec(type)?.[1] ?? ''}` : '&';
  // Boundaries stand around the fields, ampersands between them.
  if (occursMoreThan(hasFiles ? MAX_FIELDS + 1 : MAX_FIELDS - 1, separator, bytes))
    throw INVALID_FIELD.error(`The request body must not have more than ${MAX_FIELDS} fields.`);
  const form = hasFiles
    ? await fieldsAndFiles(bytes, type)
    : new FormFields(new URLSearchParams(bytes.toString('utf8')));
  // Forms contain passwords. What JavaScript has read of them as strings cannot be overwritten.
  bytes.fill(0);
  if (form.hasNullCharacter) {
    throw INVALID_FIELD.error('The request body must not contain null characters.');
  }
  return form;
}

function occursMoreThan(limit: number, text: string, bytes: Buffer): boolean {
  let at = -1;
  for (let count = 0; count <= limit; count += 1) {
    at = bytes.indexOf(text, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Uses the parser of the Fetch API (RFC 7578), which is part of Node. */
async function fieldsAndFiles(bytes: Buffer, type: string): Promise<FormFields> {
  const parsed = await new globalThis.Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch(() => {
      throw incompleteBody();
    });
  const fields = new URLSearchParams();
  const files = new Map<string, Buffer>();
  for (const [name, value] of parsed) {
    if (typeof value === 'string') fields.append(name, value);
    else if (value.size > 0) files.set(name, Buffer.from(await value.arrayBuffer()));
  }
  return new FormFields(fields, files);
}
