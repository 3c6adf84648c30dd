import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiExtension,
  ApiExtraModels,
  ApiOperation,
  ApiParam,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Surface } from '../config/index.js';
import { OnSurface } from '../http/index.js';
import { ApiErrors, type DocumentedError, type ErrorBodyDocument } from './api-errors.js';
import type { ErrorKind } from '../errors/index.js';
import { REQUEST_ID_HEADER } from './response-headers.js';

/** What the API document says of one operation. */
export interface OperationDocument {
  readonly operationId: string;
  readonly summary: string;
  /** When to use the operation and what to know before; Markdown. */
  readonly description: string;
  /** The class of the JSON body, where the operation has one. */
  readonly body?: Type;
  /** What the placeholders of the path stand for. */
  readonly pathParameters?: Readonly<Record<string, PathParameter>>;
  /** The class of the answer, in brackets where the answer is an array; `String` for text, `Buffer` for bytes. */
  readonly response: Type | readonly [Type];
  /** Where the answer is no JSON: its media type, or those that it may have. */
  readonly responseType?: string | readonly string[];
  readonly responseDescription: string;
  readonly responseExample?: unknown;
  readonly errors: readonly (ErrorKind | DocumentedError)[];
  /** Where errors are told in another way than elsewhere. */
  readonly errorBody?: ErrorBodyDocument;
}

interface PathParameter {
  readonly description: string;
  readonly example: string;
}

/** Tells the document's builder which public address an operation has. */
export const SURFACE_EXTENSION = 'x-surface';

/** Documents one operation completely. Routes use it through the decorator of their surface. */
export function DocumentedOperation(surface: Surface, operation: OperationDocument): MethodDecorator {
  const [model, schema] = schemaOf(operation.response);
  const { responseType = 'application/json', responseExample: example } = operation;
  const mediaTypes = typeof responseType === 'string' ? [responseType] : responseType;
  return applyDecorators(
    ApiOperation({
      operationId: operation.operationId,
      summary: operation.summary,
      description: operation.description,
    }),
    ...(operation.body ? [ApiBody({ type: operation.body, required: true })] : []),
    ...Object.entries(operation.pathParameters ?? {}).map(([name, parameter]) =>
      ApiParam({ name, ...parameter }),
    ),
    OnSurface(surface),
    ApiExtension(SURFACE_EXTENSION, surface),
    ...(model ? [ApiExtraModels(model)] : []),
    ApiResponse({
      status: 200,
      description: operation.responseDescription,
      headers: REQUEST_ID_HEADER,
      content: Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema, example }])),
    }),
    ApiErrors(operation.errors, operation.errorBody),
  );
}

type Schema = { $ref: string } | { type: 'array'; items: Schema } | { type: 'string'; format?: 'binary' };

/** The class that has to be among the document's models, where there is one, and the schema of the answer. */
function schemaOf(response: Type | readonly [Type]): [Type | undefined, Schema] {
  if (response === String) return [undefined, { type: 'string' }];
  if (response === (Buffer as unknown)) return [undefined, { type: 'string', format: 'binary' }];
  const model = (Array.isArray(response) ? response[0] : response) as Type;
  const reference = { $ref: getSchemaPath(model) };
  return [model, Array.isArray(response) ? { type: 'array', items: reference } : reference];
}
