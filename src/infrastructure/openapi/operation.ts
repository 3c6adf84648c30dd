import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Surface } from '../config/index.js';
import { OnSurface } from '../http/index.js';
import { INVALID_FIELD, type ErrorKind } from '../errors/index.js';
import { exampleMessages, hasFields, MESSAGES } from '../validation/index.js';
import { ApiErrors, type DocumentedError, type ErrorBodyDocument } from './api-errors.js';
import { componentOf } from './components.js';
import { exampleOf } from './properties.js';

/** Returns the instance of a configuration class that the document is built with. */
export type ConfigurationOf = <T extends object>(target: Type<T>) => T;

/**
 * Markdown that says when to use the operation and what to know before using it. Use a function if the text contains
 * configured values.
 */
export type Description = string | ((configurationOf: ConfigurationOf) => string);

/** The documentation of one operation. */
export interface OperationDocument {
  readonly operationId: string;
  readonly summary: string;
  readonly description: Description;
  /** The class of the JSON body, if the operation has one. */
  readonly body?: Type;
  /** The placeholders of the path. */
  readonly pathParameters?: Readonly<Record<string, PathParameter>>;
  /** Optional headers of the request. */
  readonly headerParameters?: Readonly<Record<string, { readonly description: string }>>;
  /** The class of the response, in brackets for an array; `String` for text, `Buffer` for bytes. */
  readonly response: Type | readonly [Type];
  /** Media types of a response that is not JSON. */
  readonly responseType?: string | readonly string[];
  readonly responseDescription: string;
  /** Status of the response if it is not 200. */
  readonly status?: 202;
  /**
   * Defaults to the examples of the response's properties. For an object, list only the properties that differ; set a
   * property to `undefined` to omit it.
   */
  readonly responseExample?: unknown;
  /** Errors besides `INVALID_FIELD` for fields of the body or query, which come from the DTO unless there is an `errorBody`. */
  readonly errors: readonly (ErrorKind | DocumentedError)[];
  /** The error body, if it differs from that of other operations. */
  readonly errorBody?: ErrorBodyDocument;
}

interface PathParameter {
  /** Name of the parameter in the API document, such as `UserIdParameter`. */
  readonly component: string;
  readonly schema: keyof typeof PATH_SCHEMAS;
  readonly description: string;
  readonly example: string | number;
}

const PATH_SCHEMAS = {
  uuid: { type: 'string', format: 'uuid' },
  integer: { type: 'integer', minimum: 1 },
  int64: { type: 'integer', format: 'int64', minimum: 1 },
} as const;

/** Names the surface of an operation for the builder of the document. */
export const SURFACE_EXTENSION = 'x-surface';

const descriptions = new Map<string, Description>();

/** Returns the description of an operation for a configuration. */
export function descriptionOf(operationId: string, configurationOf: ConfigurationOf): string {
  return resolveDescription(descriptions.get(operationId) ?? '', configurationOf);
}

/** Returns the text of a description for a configuration. */
export function resolveDescription(description: Description, configurationOf: ConfigurationOf): string {
  return typeof description === 'string' ? description : description(configurationOf);
}

/** Messages of every operation that reads a JSON body, or else a query. */
const INVALID_BODY = { label: 'InvalidBody', sharedMessage: 'The request body is not valid JSON.' };
const INVALID_QUERY = { label: 'InvalidQuery', sharedMessage: MESSAGES.unknownParameter('page') };

/** Documents one operation completely. Routes use it through the decorator of their surface. */
export function DocumentedOperation(surface: Surface, operation: OperationDocument): MethodDecorator {
  descriptions.set(operation.operationId, operation.description);
  return (prototype, handler, descriptor) => {
    const parameters = Reflect.getMetadata('design:paramtypes', prototype, handler) as unknown[];
    const messages = parameters.flatMap(exampleMessages);
    const shared = operation.body ? INVALID_BODY : INVALID_QUERY;
    const errors = [
      ...(parameters.some(hasFields) && !operation.errorBody
        ? [{ kind: INVALID_FIELD, messages, ...shared }]
        : []),
      ...operation.errors,
    ];
    documentation(surface, { ...operation, errors })(prototype, handler, descriptor);
  };
}

function documentation(surface: Surface, operation: OperationDocument): MethodDecorator {
  const [model, schema] = schemaOf(operation.response);
  const { responseType = 'application/json' } = operation;
  const example = responseExampleOf(operation);
  const mediaTypes = typeof responseType === 'string' ? [responseType] : responseType;
  return applyDecorators(
    ApiOperation({
      operationId: operation.operationId,
      summary: operation.summary,
    }),
    ...(operation.body ? [ApiBody({ type: operation.body, required: true })] : []),
    ...Object.entries(operation.pathParameters ?? {}).map(
      ([name, { component, schema: type, example: id, ...parameter }]) =>
        ApiParam({
          name,
          ...parameter,
          schema: { ...PATH_SCHEMAS[type], example: id },
          ...componentOf(component),
        }),
    ),
    ...Object.entries(operation.headerParameters ?? {}).map(([name, parameter]) =>
      ApiHeader({ name, required: false, schema: { type: 'string' }, ...parameter }),
    ),
    OnSurface(surface),
    ApiExtension(SURFACE_EXTENSION, surface),
    ...(model ? [ApiExtraModels(model)] : []),
    ApiResponse({
      status: operation.status ?? 200,
      description: operation.responseDescription,
      content: Object.fromEntries(
        mediaTypes.map((type) => [type, { schema, ...(example !== undefined && { example }) }]),
      ),
    }),
    ApiErrors(operation.operationId, operation.errors, operation.errorBody),
  );
}

/** Returns undefined if the example consists of the examples of the response's properties, as viewers show it. */
function responseExampleOf({ response, responseExample }: OperationDocument): unknown {
  if (response === String || response === (Buffer as unknown) || Array.isArray(response))
    return responseExample;
  if (responseExample === undefined) return undefined;
  return { ...exampleOf(response as Type), ...(responseExample as object) };
}

type Schema = { $ref: string } | { type: 'array'; items: Schema } | { type: 'string'; format?: 'binary' };

/** Returns the model to include in the document, if any, and the schema of the response. */
function schemaOf(response: Type | readonly [Type]): [Type | undefined, Schema] {
  if (response === String) return [undefined, { type: 'string' }];
  if (response === (Buffer as unknown)) return [undefined, { type: 'string', format: 'binary' }];
  const model = (Array.isArray(response) ? response[0] : response) as Type;
  const reference = { $ref: getSchemaPath(model) };
  return [model, Array.isArray(response) ? { type: 'array', items: reference } : reference];
}
