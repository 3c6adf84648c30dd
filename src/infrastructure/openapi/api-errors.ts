import { STATUS_CODES } from 'node:http';
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ApiError, ErrorKind } from '../errors/index.js';
import { componentOf } from './components.js';
import { ErrorResponse } from './error-response.js';
import { HELP_LINK_HEADER, RATE_LIMIT_HEADERS, REQUEST_ID_HEADER } from './response-headers.js';

/** A kind of error with its messages for this operation. */
export interface DocumentedError {
  readonly kind: ErrorKind;
  readonly messages: readonly string[];
  /** Name of this kind with these messages, if several operations document it. */
  readonly label?: string;
  /**
   * A message of every operation that documents this kind under this label. The operations share the response with this
   * example, and each describes it with its own messages.
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

const ERROR_BODY: ErrorBodyDocument = { model: ErrorResponse, bodyOf: (error) => error.body };

/** Documents a kind of error with the operation’s own messages instead of the catalog’s message. */
export function withMessages(kind: ErrorKind, ...messages: string[]): DocumentedError {
  return { kind, messages };
}

/** Like `withMessages`, for messages that several operations share. @param label name in the API document */
export function withSharedMessages(label: string, kind: ErrorKind, ...messages: string[]): DocumentedError {
  return { kind, messages, label };
}

/** Seconds in the examples. */
const EXAMPLE_RETRY_AFTER = 12;

/**
 * Documents the errors of an operation: one response for each status. Its description lists the messages, and each kind
 * of error has an example. Responses that several operations share become components.
 */
export function ApiErrors(
  operationId: string,
  errors: readonly (ErrorKind | DocumentedError)[],
  errorBody: ErrorBodyDocument = ERROR_BODY,
): MethodDecorator {
  const statuses = groupByStatus(mergeKinds(errors));
  return applyDecorators(
    ApiExtraModels(errorBody.model),
    ...[...statuses].map(([status, ofStatus]) =>
      ApiResponse({
        status,
        description: ofStatus.map(sharedDescriptionOf).join('\n\n'),
        headers: headersOf(
          status,
          ofStatus.some(({ kind }) => kind.hasChallenge),
        ),
        content: {
          'application/json': {
            schema: { $ref: getSchemaPath(errorBody.model) },
            examples: Object.fromEntries(ofStatus.map((error) => exampleOf(error, operationId, errorBody))),
          },
        },
        ...componentOf(
          nameOf(operationId, status, ofStatus, errorBody),
          ofStatus.map(descriptionOf).join('\n\n'),
        ),
      }),
    ),
  );
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
    return { kind, messages, ...(label !== undefined && { label }) };
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

function sharedDescriptionOf(error: DocumentedError): string {
  return error.sharedMessage === undefined ? descriptionOf(error) : meaningOf(error);
}

/** Lists the messages unless the example shows the only one. */
function descriptionOf(error: DocumentedError): string {
  const { kind, messages, sharedMessage } = error;
  const list = messages.map((message) => `- ${message}`).join('\n');
  if (sharedMessage !== undefined) return `\`${kind.name}\`:\n\n${list}`;
  return messages.length === 1 ? meaningOf(error) : `${meaningOf(error)}\n\n${list}`;
}

function meaningOf({ kind }: DocumentedError): string {
  return `\`${kind.name}\`: ${kind.when}`;
}

function exampleOf(
  { kind, messages, label, sharedMessage }: DocumentedError,
  operationId: string,
  { model, bodyOf }: ErrorBodyDocument,
): [string, object] {
  const message = sharedMessage ?? messages[0];
  const value = bodyOf(kind.error(message, { retryAfter: EXAMPLE_RETRY_AFTER }));
  const name =
    label === undefined ? `${capitalized(operationId)}${kind.label}` : `${prefixOf(model)}${label}`;
  return [kind.label, { value, ...componentOf(name) }];
}

function headersOf(status: number, hasChallenge: boolean): Record<string, object> {
  return {
    ...REQUEST_ID_HEADER,
    ...HELP_LINK_HEADER,
    ...(hasChallenge && {
      'WWW-Authenticate': {
        description: 'How to authenticate (RFC 9110, section 11.6.1).',
        schema: { type: 'string' },
      },
    }),
    ...(status === 429 && RATE_LIMIT_HEADERS),
    ...((status === 429 || status === 503) && {
      'Retry-After': {
        description: 'Seconds to wait before you retry.',
        schema: { type: 'integer', minimum: 1 },
      },
    }),
  };
}

function groupByStatus(errors: readonly DocumentedError[]): Map<number, DocumentedError[]> {
  const groups = new Map<number, DocumentedError[]>();
  for (const error of errors)
    groups.set(error.kind.status, [...(groups.get(error.kind.status) ?? []), error]);
  return groups;
}
