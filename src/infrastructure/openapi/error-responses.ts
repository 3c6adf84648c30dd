import { STATUS_CODES } from 'node:http';
import type { Type } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import { ERROR_CODES, ERROR_TYPES, type ApiError, type ErrorKind } from '../errors/index.js';
import { enumeration, MAX_INT32 } from '../schemas/index.js';
import type { Components, Part } from './components.js';
import { EnumProperty, IntegerProperty, TextProperty } from './properties.js';

const ERROR_TYPE = enumeration(
  'ErrorType',
  ERROR_TYPES,
  'Category of an error. More categories may be added.',
);
export const ERROR_CODE = enumeration(
  'ErrorCode',
  ERROR_CODES,
  'The kind of error. More kinds may be added.',
);

/** The body of every error response. */
export class ErrorResponse {
  @EnumProperty(ERROR_TYPE, 'Category of the error.', 'INVALID_REQUEST')
  error_type!: string;

  @EnumProperty(ERROR_CODE, 'The error. Branch on this value.', 'INVALID_FIELD')
  error_code!: string;

  @TextProperty('Message for people. The wording may change.', 'The external user id field is required.', {
    minLength: 1,
  })
  error_message!: string;

  @IntegerProperty('Seconds to wait before you retry. Only present for rate-limit errors.', 12, {
    required: false,
    minimum: 1,
  })
  retry_after?: number;

  @TextProperty(
    'The `cursor` to continue with. Only present if the cursor of the request is too old.',
    'AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd',
    { required: false },
  )
  oldest_cursor?: string;
}

/*
 * The beginning of the document describes the headers of every response, of every error, and of operations with a rate
 * limit. Responses list a header only if it matters for them especially.
 */

const CHALLENGE_HEADER = {
  'WWW-Authenticate': {
    description: 'How to authenticate (RFC 9110, section 11.6.1).',
    schema: { type: 'string' as const },
  },
};

const RETRY_AFTER_HEADER = {
  'Retry-After': {
    description: 'Seconds to wait before you retry.',
    schema: { type: 'integer' as const, minimum: 1, maximum: MAX_INT32 },
  },
};

/** Sent with the responses of operations with a rate limit, after the credentials have been checked. */
const RATE_LIMIT_HEADERS = {
  RateLimit: {
    description:
      'State of the limit: its name, the requests that remain (`r`), and the seconds until it starts anew (`t`).',
    schema: { type: 'string' as const },
    example: '"platform";r=5999;t=60',
  },
  'RateLimit-Policy': {
    description: 'The limit: its name, the number of requests (`q`), and the window in seconds (`w`).',
    schema: { type: 'string' as const },
    example: '"platform";q=6000;w=60',
  },
};

const REQUEST_ID_HEADER = {
  'X-Request-Id': {
    description: 'ID of this request. Quote it when you report a problem. An ID that you send is kept.',
    schema: { type: 'string' as const, pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
};

export interface DocumentedError {
  readonly kind: ErrorKind;
  readonly messages: readonly string[];
  /** Name of this kind with these messages, if several operations document it. */
  readonly label?: string;
  /** Whether the messages say more precisely than the catalog when the operation responds with this kind. */
  readonly isSpecific?: boolean;
  /**
   * A message of every operation that documents this kind under this label. The operations share the response with this
   * example; an operation with messages of its own adds them to the description.
   */
  readonly sharedMessage?: string;
}

/** An error body that differs from that of the API, such as the error body of OAuth. */
export interface ErrorBodyDocument {
  /** Class of the body: `ErrorResponse` with a prefix, with which the names of the responses begin. */
  readonly model: Type;
  /** Returns the body of an error, for the examples. */
  readonly bodyOf: (error: ApiError) => object;
}

export const ERROR_BODY: ErrorBodyDocument = { model: ErrorResponse, bodyOf: (error) => error.body };

/** Documents a kind of error with all messages of the operation instead of the catalog’s description. */
export function withMessages(kind: ErrorKind, ...messages: string[]): DocumentedError {
  return { kind, messages, isSpecific: true };
}

/** Documents a kind of error with some messages of the operation, below the catalog’s description. */
export function withExamples(kind: ErrorKind, ...messages: string[]): DocumentedError {
  return { kind, messages };
}

/** Like `withMessages`, for messages that several operations share. @param label name in the API document */
export function withSharedMessages(label: string, kind: ErrorKind, ...messages: string[]): DocumentedError {
  return { kind, messages, label, isSpecific: true };
}

/** Seconds in the examples. */
const EXAMPLE_RETRY_AFTER = 12;

/**
 * Returns the responses for the errors of an operation, one for each status. Its description says when it occurs, and each
 * kind of error has an example. Headers that all errors have are described once, at the beginning of the document.
 */
export function errorResponses(
  operationId: string,
  errors: readonly (ErrorKind | DocumentedError)[],
  errorBody: ErrorBodyDocument,
  components: Components,
): Record<string, Part> {
  const statuses = [...groupByStatus(mergeKinds(errors))].map(([status, ofStatus]) => {
    const media = {
      schema: { $ref: getSchemaPath(errorBody.model) },
      ...examplesOf(ofStatus, operationId, errorBody, components),
    };
    const response = {
      description: ofStatus
        .map((error) => (error.sharedMessage === undefined ? descriptionOf(error) : meaningOf(error)))
        .join('\n\n'),
      ...headersOf(ofStatus, components),
      content: { 'application/json': media },
    };
    const name = nameOf(operationId, status, ofStatus, errorBody);
    const description = ofStatus.map(descriptionOf).join('\n\n');
    return [status, components.add('responses', name, response, description)] as const;
  });
  return Object.fromEntries(statuses);
}

/** Merges the messages of an error kind that both the surface and the operation document. */
function mergeKinds(errors: readonly (ErrorKind | DocumentedError)[]): DocumentedError[] {
  const merged = new Map<ErrorKind, DocumentedError[]>();
  for (const error of errors) {
    const documented =
      'kind' in error ? error : { kind: error, messages: [error.message], label: error.label };
    merged.set(documented.kind, [...(merged.get(documented.kind) ?? []), documented]);
  }
  return [...merged].map(([kind, all]) => {
    const messages = [...new Set(all.flatMap((each) => each.messages))];
    const shared = all.find(({ sharedMessage }) => sharedMessage !== undefined);
    if (shared) return { ...shared, messages };
    const label = joined(all.map((each) => each.label));
    const isSpecific = all.every((each) => each.isSpecific);
    return { kind, messages, isSpecific, ...(label !== undefined && { label }) };
  });
}

/**
 * Returns the name of a response: of what it reports, or of the operation and the status if it belongs to one operation.
 * Generators name the types of responses without a name after their schema, which responses with other headers share.
 */
function nameOf(
  operationId: string,
  status: number,
  errors: readonly DocumentedError[],
  { model }: ErrorBodyDocument,
): string {
  const label = joined(errors.map((error) => error.label));
  if (label !== undefined) return `${prefixOf(model)}${label}`;
  return `${capitalized(operationId)}${(STATUS_CODES[status] ?? '').replaceAll(/\W/g, '')}`;
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** `OAuthErrorResponse` -> `OAuth` */
const prefixOf = (model: Type): string => model.name.replace(ErrorResponse.name, '');

function joined(labels: readonly (string | undefined)[]): string | undefined {
  return labels.includes(undefined) ? undefined : [...new Set(labels)].join('Or');
}

/** Says when the error occurs: in the words of the catalog, or with the messages of the operation. */
function descriptionOf(error: DocumentedError): string {
  const { kind, messages, sharedMessage, isSpecific } = error;
  const list = messages.map((message) => `- ${message}`).join('\n');
  if (sharedMessage !== undefined)
    return messages.length === 0
      ? meaningOf(error)
      : `\`${kind.name}\`: The request does not match its schema, or:\n\n${list}`;
  if (messages.length === 1) return isSpecific ? `\`${kind.name}\`: ${messages[0]}` : meaningOf(error);
  return `${isSpecific ? `\`${kind.name}\`:` : meaningOf(error)}\n\n${list}`;
}

function meaningOf({ kind }: DocumentedError): string {
  return `\`${kind.name}\`: ${kind.when}`;
}

/** Returns one example, or a shared one for each kind of error. */
function examplesOf(
  errors: readonly DocumentedError[],
  operationId: string,
  { model, bodyOf }: ErrorBodyDocument,
  components: Components,
): object {
  const examples = errors.map(({ kind, messages, sharedMessage, label }) => {
    const value = bodyOf(kind.error(sharedMessage ?? messages[0], { retryAfter: EXAMPLE_RETRY_AFTER }));
    const name =
      label === undefined ? `${capitalized(operationId)}${kind.label}` : `${prefixOf(model)}${label}`;
    return { label: kind.label, name, value };
  });
  // OpenAPI Generator warns about an example without a name that is one of several.
  if (examples.length === 1) return { example: examples[0]?.value };
  const named = examples.map((each) => [
    each.label,
    components.add('examples', each.name, { value: each.value }),
  ]);
  return { examples: Object.fromEntries(named) };
}

function headersOf(errors: readonly DocumentedError[], components: Components): object {
  const headers = {
    ...(errors.some(({ kind }) => kind.hasChallenge) && CHALLENGE_HEADER),
    ...(errors.some(({ kind }) => kind.status === 429) && RATE_LIMIT_HEADERS),
    ...(errors.some(({ kind }) => kind.status === 429 || kind.status === 503) && RETRY_AFTER_HEADER),
    ...(errors.some(({ kind }) => kind.status === 500) && REQUEST_ID_HEADER),
  };
  return namedHeaders(headers, components);
}

export type Headers = Readonly<Record<string, Part>>;

/** Returns the headers of a response, as components. */
export function namedHeaders(headers: Headers, components: Components): object {
  const named = Object.entries(headers).map(([name, header]) => [
    name,
    components.add('headers', name, header),
  ]);
  return named.length === 0 ? {} : { headers: Object.fromEntries(named) };
}

function groupByStatus(errors: readonly DocumentedError[]): Map<number, DocumentedError[]> {
  const groups = new Map<number, DocumentedError[]>();
  for (const error of errors)
    groups.set(error.kind.status, [...(groups.get(error.kind.status) ?? []), error]);
  return groups;
}
