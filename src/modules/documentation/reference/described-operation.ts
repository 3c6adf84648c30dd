import type { OpenAPIObject } from '@nestjs/swagger';
import type { ApiOperation } from '../api-operations.js';

/** A schema of the document (JSON Schema 2020-12), with the keywords that the service uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
}

/** A parameter of a request, or a header of a response. */
export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>;
}

interface Message {
  readonly $ref?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly headers?: Readonly<Record<string, Omit<Parameter, 'name' | 'in'>>>;
  readonly content?: Readonly<Record<string, Media>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly servers?: readonly { readonly url: string }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Message;
  readonly responses: Readonly<Record<string, Message>>;
  readonly callbacks?: object;
  readonly 'x-scope'?: string;
  readonly 'x-repeatable'?: string;
}

/** The body of a request or of a response. */
export interface Body {
  readonly type: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly examples: readonly unknown[];
}

export interface DescribedResponse {
  readonly status: string;
  /** Markdown. */
  readonly description: string;
  readonly headers: readonly Parameter[];
  readonly body: Body | undefined;
}

/** An operation or a webhook with everything that the document says about it. */
export interface DescribedOperation extends ApiOperation {
  /** The names of the security schemes, of which a request needs one; empty if it needs no credentials. */
  readonly schemes: readonly string[];
  readonly scope: string | undefined;
  readonly repeatable: string | undefined;
  /** The address of its surface; undefined if it is the address of the document. */
  readonly server: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  readonly responses: readonly DescribedResponse[];
  readonly isWebhook: boolean;
  /** Whether it creates an endpoint that receives webhooks. */
  readonly hasCallbacks: boolean;
}

/** Reads operations from the API document. */
export class ReferenceDocument {
  constructor(private readonly document: OpenAPIObject) {}

  /** Returns the object that a reference leads to, with the members next to the reference, or the object itself. */
  resolve<Value extends { readonly $ref?: string }>(value: Value): Value {
    const { $ref, ...own } = value;
    if ($ref === undefined) return value;
    let target: unknown = this.document;
    for (const name of $ref.slice(2).split('/')) target = (target as Record<string, unknown>)[name];
    return { ...this.resolve(target as Value), ...own };
  }

  describe(operation: ApiOperation): DescribedOperation {
    const { webhooks, paths } = this.document as unknown as Record<
      'webhooks' | 'paths',
      Record<string, Record<string, DocumentedOperation>>
    >;
    const isWebhook = operation.method === 'EVENT';
    const methods = Object.values((isWebhook ? webhooks : paths)[operation.path] ?? {});
    const documented = methods.find(({ operationId }) => operationId === operation.id);
    if (!documented) throw new Error(`The document has no operation ${operation.id}.`);
    const { requestBody, responses, security = [], parameters = [], servers = [] } = documented;
    return {
      ...operation,
      isWebhook,
      hasCallbacks: documented.callbacks !== undefined,
      schemes: security.flatMap((scheme) => Object.keys(scheme)),
      scope: documented['x-scope'],
      repeatable: documented['x-repeatable'],
      server: servers[0]?.url,
      parameters: parameters.map((parameter) => this.resolve(parameter)),
      body: requestBody && this.bodyOf(requestBody),
      responses: Object.entries(responses).map(([status, response]) => this.responseOf(status, response)),
    };
  }

  private responseOf(status: string, response: Message): DescribedResponse {
    const { description = '', headers = {} } = this.resolve(response);
    return {
      status,
      description,
      headers: Object.entries(headers).map(([name, header]) => ({
        ...this.resolve(header),
        name,
        in: 'header',
      })),
      body: this.bodyOf(response),
    };
  }

  private bodyOf(message: Message): Body | undefined {
    const { content = {}, required = false } = this.resolve(message);
    const [[type, media] = []] = Object.entries(content);
    if (type === undefined || media?.schema === undefined) return undefined;
    const { schema, example, examples = {} } = media;
    const values = Object.values(examples).map((each) => this.resolve(each).value);
    const only = example === undefined ? this.exampleOf(schema) : example;
    return { type, schema, isRequired: required, examples: values.length > 0 ? values : [only] };
  }

  /** Returns the example of a schema, or one that consists of the examples of its fields. */
  exampleOf(schema: Schema): unknown {
    const resolved = this.resolve(schema);
    const { example, examples: [first] = [], const: only, enum: [choice] = [], oneOf, items } = resolved;
    if ('example' in resolved) return example;
    const known = first ?? only ?? resolved.default ?? choice;
    if (known !== undefined) return known;
    if (oneOf?.[0]) return this.exampleOf(oneOf[0]);
    if (items) return [this.exampleOf(items)];
    if (!resolved.properties) return typesOf(resolved).includes('object') ? {} : undefined;
    return Object.fromEntries(
      Object.entries(resolved.properties)
        .map(([name, property]) => [name, this.exampleOf(property)] as const)
        .filter(([, value]) => value !== undefined),
    );
  }

  /** Returns the schema without `null`, which is one of its types or options, and whether `null` is allowed. */
  withoutNull(schema: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
    const { oneOf, ...own } = this.resolve(schema);
    const options = oneOf?.filter(({ type }) => type !== 'null');
    const isNullable = typesOf(own).includes('null') || options?.length !== oneOf?.length;
    if (options?.[0] && options.length === 1)
      return { schema: { ...this.resolve(options[0]), ...own }, isNullable };
    const type = typesOf(own).filter((each) => each !== 'null');
    return { schema: { ...own, type, ...(options && { oneOf: options }) }, isNullable };
  }
}

/** Returns the types that a schema names. */
export const typesOf = ({ type = [] }: Schema): readonly string[] =>
  typeof type === 'string' ? [type] : type;
