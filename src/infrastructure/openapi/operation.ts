import { applyDecorators, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import {
  ApiBody,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiTags,
  DECORATORS,
  getSchemaPath,
  type SchemaObject,
} from '@nestjs/swagger';
import type { AuditAction } from '../audit-catalog/index.js';
import type { Surface } from '../config/index.js';
import { declaredRoutesOf } from '../framework-patches/index.js';
import { OnSurface } from '../http/index.js';
import { INVALID_FIELD, type ErrorKind } from '../errors/index.js';
import { MAX_INT32 } from '../schemas/index.js';
import { exampleMessages, hasFields, MAX_EXTERNAL_USER_ID_LENGTH, MESSAGES } from '../validation/index.js';
import type { Components, Part } from './components.js';
import {
  ERROR_BODY,
  errorResponses,
  namedHeaders,
  type DocumentedError,
  type ErrorBodyDocument,
  type Headers,
} from './error-responses.js';
import { exampleOf } from './properties.js';

/** Returns the instance of a configuration class that the document is built with. */
export type ConfigurationOf = <T extends object>(target: Type<T>) => T;

/**
 * Markdown that says when to use the operation and what to know before using it. Use a function if the text contains
 * configured values.
 */
export type Description = string | ((configurationOf: ConfigurationOf) => string);

/**
 * Whether a client may repeat a request without knowing whether the first one was processed: see docs/retrying.md. The SDK does so.
 */
type Repeatable = 'always' | 'with_idempotency_key' | 'never';

export interface OperationDocument {
  readonly operationId: string;
  /** The place of the operation among those that partners read first: 1 to 8 of the specification, with what they need. */
  readonly place?: number;
  readonly summary: string;
  readonly description: Description;
  /** The action that the audit log records when the operation is performed. An operation of the dashboard takes it from its permission. */
  readonly action?: AuditAction | undefined;
  /** The scope that an API key requires. The decorators of the surfaces set it. */
  readonly scope?: string;
  /** How a POST request can be repeated. Other methods are repeatable. */
  readonly repeatable?: Repeatable;
  /** The effect of a repeated request, as sentences in Markdown: `docs/repeated-requests.md`. */
  readonly ifRepeated?: string;
  readonly body?: Type;
  readonly bodyVariants?: BodyVariants;
  readonly pathParameters?: Readonly<Record<string, PathParameter>>;
  readonly headerParameters?: Readonly<Record<string, HeaderParameter>>;
  /** The class of the response, in brackets for an array; `String` for text. */
  readonly response: Type | readonly [Type];
  readonly responseType?: string;
  readonly responseDescription: string;
  readonly responseHeaders?: Headers;
  /** Status of the response if it is not 200. */
  readonly status?: 201 | 202;
  /**
   * Defaults to the examples of the response's properties. For an object, list only the properties that differ; set a
   * property to `undefined` to omit it.
   */
  readonly responseExample?: unknown;
  /** Errors besides `INVALID_FIELD` for fields of the body or query, which come from the DTO unless there is an `errorBody`. */
  readonly errors: readonly (ErrorKind | DocumentedError)[];
  readonly errorBody?: ErrorBodyDocument;
}

/** Describes a body whose fields depend on the value of one of them: one schema for each value. */
export interface BodyVariants {
  /** The field that decides. */
  readonly property: string;
  readonly variants: readonly BodyVariant[];
}

interface BodyVariant {
  readonly value: string;
  readonly schema: string;
  readonly description: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Replace properties of the class. */
  readonly properties: Readonly<Record<string, SchemaObject>>;
}

interface HeaderParameter {
  readonly description: string;
  readonly schema?: SchemaObject;
  /** Name of the parameter in the API document, if several operations have it. */
  readonly component?: string;
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
  integer: { type: 'integer', minimum: 1, maximum: MAX_INT32 },
  int64: { type: 'integer', format: 'int64', minimum: 1 },
  externalUserId: { type: 'string', minLength: 1, maxLength: MAX_EXTERNAL_USER_ID_LENGTH },
} as const;

/** A placeholder for a UUID. @param component name of the parameter in the API document, such as `UserIdParameter` */
export function uuidParameter(component: string, description: string, example: string): PathParameter {
  return { component, schema: 'uuid', description, example };
}

/** Returns the text of a description for a configuration. */
export function resolveDescription(description: Description, configurationOf: ConfigurationOf): string {
  return typeof description === 'string' ? description : description(configurationOf);
}

/** The part of the API document about a route that @nestjs/swagger does not find out. */
export interface DocumentedRoute {
  readonly surface: Surface;
  readonly operation: OperationDocument;
}

export const DOCUMENTED_ROUTE = DiscoveryService.createDecorator<DocumentedRoute>();
export const TOPIC = DiscoveryService.createDecorator<{
  readonly name: string;
  readonly description?: string;
  readonly place?: number;
}>();

/**
 * Groups the operations of a controller under a heading of the API document, below that of their surface. If several
 * controllers share a topic, only one of them describes it.
 *
 * @param place among the topics that follow those of the first operations (`place`); a topic without it comes last
 */
export function Topic(name: string, description?: string, place?: number): ClassDecorator {
  return applyDecorators(
    ApiTags(name),
    TOPIC({ name, ...(description !== undefined && { description }), ...(place !== undefined && { place }) }),
  );
}

export interface OperationAtPath {
  readonly operation: OperationDocument;
  readonly method: string;
  /** With placeholders such as `{id}`. */
  readonly path: string;
  readonly surface: Surface;
  /** The names of the security schemes that it accepts. */
  readonly schemes: readonly string[];
  /** Whether its body is a form. */
  readonly isForm: boolean;
}

const handlers: {
  readonly surface: Surface;
  readonly operation: OperationDocument;
  readonly controller: Type;
  readonly handler: object;
}[] = [];

/** Returns the operations of all controllers that were loaded, in order of their paths. */
export function documentedOperations(): OperationAtPath[] {
  return handlers
    .flatMap(({ surface, operation, controller, handler }) =>
      declaredRoutesOf(controller)
        .filter((route) => route.handler === handler)
        .map(({ method, paths: [path = ''] }) => ({
          operation,
          method,
          path: path.replaceAll(/:(\w+)/g, '{$1}'),
          surface,
          schemes: listIn(DECORATORS.API_SECURITY, handler).flatMap((each) => Object.keys(each as object)),
          isForm: listIn(DECORATORS.API_CONSUMES, handler).length > 0,
        })),
    )
    .toSorted((left, right) => left.path.localeCompare(right.path));
}

/** Returns what a decorator of @nestjs/swagger has added to a handler. */
function listIn(key: string, handler: object): readonly unknown[] {
  return (Reflect.getMetadata(key, handler) as readonly unknown[] | undefined) ?? [];
}

/** Returns the operation of a request, by its method and its path; undefined if there is none. A fixed path is no ID of another one. */
export function documentedOperationAt(method: string, path: string): OperationAtPath | undefined {
  const operations = documentedOperations().filter((each) => each.method === method);
  const isAt = (pattern: string): boolean =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return operations.find((each) => each.path === path) ?? operations.find((each) => isAt(each.path));
}

/** Documents one operation completely. Routes use it through the decorator of their surface. */
export function DocumentedOperation(surface: Surface, operation: OperationDocument): MethodDecorator {
  const { operationId, summary, body, pathParameters = {}, headerParameters = {} } = operation;
  const [model] = schemaOf(operation.response);
  const collect: MethodDecorator = ({ constructor: controller }, _name, { value }) =>
    void handlers.push({ surface, operation, controller: controller as Type, handler: value as object });
  return applyDecorators(
    collect,
    OnSurface(surface),
    DOCUMENTED_ROUTE({ surface, operation }),
    ApiOperation({ operationId, summary }),
    ...(body ? [ApiBody({ type: body, required: true })] : []),
    ...Object.entries(pathParameters).map(([name, { schema, description, example }]) =>
      ApiParam({ name, description, schema: { ...PATH_SCHEMAS[schema], example } }),
    ),
    ...Object.entries(headerParameters).map(([name, { description, schema }]) =>
      ApiHeader({ name, required: false, schema: { type: 'string', ...schema }, description }),
    ),
    ApiExtraModels((operation.errorBody ?? ERROR_BODY).model, ...(model ? [model] : [])),
  );
}

/** Messages of every operation that reads a JSON body, or else a query. */
const INVALID_BODY = { label: 'InvalidBody', sharedMessage: 'The request body is not valid JSON.' };
const INVALID_QUERY = { label: 'InvalidQuery', sharedMessage: MESSAGES.unknownParameter('page') };

/** @param parameters the classes of the handler's parameters, whose fields can be invalid */
export function responsesOf(
  operation: OperationDocument,
  parameters: readonly unknown[],
  components: Components,
): Record<string, Part> {
  const { operationId, status = 200, body, errorBody, responseType = 'application/json' } = operation;
  const [, schema] = schemaOf(operation.response);
  const example = responseExampleOf(operation);
  const media = { schema, ...(example !== undefined && { example }) };
  const messages = parameters.flatMap(exampleMessages);
  const shared = body ? INVALID_BODY : INVALID_QUERY;
  const errors = [
    ...(parameters.some(hasFields) && !errorBody ? [{ kind: INVALID_FIELD, messages, ...shared }] : []),
    ...operation.errors,
  ];
  return {
    [status]: {
      description: operation.responseDescription,
      ...(operation.responseHeaders && namedHeaders(operation.responseHeaders, components)),
      content: { [responseType]: media },
    },
    ...errorResponses(operationId, errors, errorBody ?? ERROR_BODY, components),
  };
}

/** Returns undefined if the example consists of the examples of the response's properties, as viewers show it. */
function responseExampleOf({ response, responseExample }: OperationDocument): unknown {
  if (response === String || Array.isArray(response)) return responseExample;
  if (responseExample === undefined) return undefined;
  return { ...exampleOf(response as Type), ...(responseExample as object) };
}

type Schema = { $ref: string } | { type: 'array'; items: Schema } | { type: 'string' };

/** Returns the model to include in the document, if any, and the schema of the response. */
function schemaOf(response: Type | readonly [Type]): [Type | undefined, Schema] {
  if (response === String) return [undefined, { type: 'string' }];
  const model = (Array.isArray(response) ? response[0] : response) as Type;
  const reference = { $ref: getSchemaPath(model) };
  return [model, Array.isArray(response) ? { type: 'array', items: reference } : reference];
}
