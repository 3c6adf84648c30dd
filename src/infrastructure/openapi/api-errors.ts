import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ApiError, ErrorKind } from '../errors/index.js';
import { ErrorResponse } from './error-response.js';
import { HELP_LINK_HEADER, RATE_LIMIT_HEADERS, REQUEST_ID_HEADER } from './response-headers.js';

/** A kind of error with its messages for this operation, each of which becomes an example. */
export interface DocumentedError {
  readonly kind: ErrorKind;
  readonly messages: readonly string[];
}

/** An error body that differs from that of the API, such as the error body of OAuth. */
export interface ErrorBodyDocument {
  /** Class of the body. */
  readonly model: Type;
  /** Returns the body of an error, for the examples. */
  readonly bodyOf: (error: ApiError) => object;
}

const ERROR_BODY: ErrorBodyDocument = { model: ErrorResponse, bodyOf: (error) => error.body };

/** Documents a kind of error with the operation’s own messages instead of the catalog’s example. */
export function withMessages(kind: ErrorKind, ...messages: string[]): DocumentedError {
  return { kind, messages };
}

/** Seconds in the examples. */
const EXAMPLE_RETRY_AFTER = 12;

/** Documents the errors of an operation: one response for each status, one example for each message. */
export function ApiErrors(
  errors: readonly (ErrorKind | DocumentedError)[],
  errorBody: ErrorBodyDocument = ERROR_BODY,
): MethodDecorator {
  const statuses = groupByStatus(mergeKinds(errors));
  return applyDecorators(
    ApiExtraModels(errorBody.model),
    ...[...statuses].map(([status, ofStatus]) =>
      ApiResponse({
        status,
        description: ofStatus.map(({ kind }) => `\`${kind.name}\`: ${kind.when}`).join('\n\n'),
        headers: headersOf(
          status,
          ofStatus.some(({ kind }) => kind.hasChallenge),
        ),
        content: {
          'application/json': {
            schema: { $ref: getSchemaPath(errorBody.model) },
            examples: Object.fromEntries(ofStatus.flatMap((error) => examplesOf(error, errorBody))),
          },
        },
      }),
    ),
  );
}

/** Merges the messages of an error kind that both the surface and the operation document. */
function mergeKinds(errors: readonly (ErrorKind | DocumentedError)[]): DocumentedError[] {
  const messages = new Map<ErrorKind, Set<string>>();
  for (const error of errors) {
    const { kind, messages: own } = 'kind' in error ? error : { kind: error, messages: [error.message] };
    messages.set(kind, new Set([...(messages.get(kind) ?? []), ...own]));
  }
  return [...messages].map(([kind, all]) => ({ kind, messages: [...all] }));
}

function examplesOf({ kind, messages }: DocumentedError, { bodyOf }: ErrorBodyDocument): [string, object][] {
  return messages.map((message, index) => {
    const name = messages.length === 1 ? kind.name : `${kind.name}_${index + 1}`;
    const value = bodyOf(kind.error(message, { retryAfter: EXAMPLE_RETRY_AFTER }));
    return [name, { summary: message, value }];
  });
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
