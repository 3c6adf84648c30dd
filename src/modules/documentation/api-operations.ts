import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { lazy } from '../../infrastructure/lazy-values/index.js';

/** An operation of the API document, or a webhook, as the site lists it. */
export interface ApiOperation {
  /** The name of the operation in the API document, in the SDKs, and in addresses of the reference. */
  readonly id: string;
  /** The HTTP method; `EVENT` for a webhook. */
  readonly method: string;
  /** For a webhook, the name of the event. */
  readonly path: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** The surface and the topic, such as `Platform API · MCP tokens`. */
  readonly tag: string;
  /** Opens the operation in the API reference. */
  readonly href: string;
}

/** The operations with the same tag, which have a page of the API reference. */
export interface ApiTopic {
  readonly tag: string;
  /** The surface, such as `Platform API`; empty for webhooks. */
  readonly surface: string;
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  /** The path of its page. */
  readonly path: string;
  readonly operations: readonly ApiOperation[];
}

interface DocumentedOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}
type DocumentedPaths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;

export const REFERENCE_PATH = '/docs/api';
/** Whether a path is that of the reference or of one of its pages. */
export const isOfReference = (path: string): boolean => `${path}/`.startsWith(`${REFERENCE_PATH}/`);
const WEBHOOKS = {
  name: 'Webhooks',
  description:
    'The events that the service sends to your [webhook endpoints](/docs/api/webhook-endpoints). ' +
    'The guide to [webhooks](/docs/webhooks) shows how to receive and verify them.',
};

/** The API document of this deployment, and the operations in it. */
@Injectable()
export class ApiOperations {
  private create: () => Promise<OpenAPIObject> = () => {
    throw new Error('The API document needs the routes of an application.');
  };
  readonly document = lazy(() => this.create());
  /** The topics in the order of the document, and the webhooks at the end. */
  readonly topics = lazy(async () => topicsOf(await this.document()));
  /** All operations. Webhooks are none. */
  readonly all = lazy(async () =>
    (await this.topics()).filter(({ tag }) => tag !== WEBHOOKS.name).flatMap(({ operations }) => operations),
  );

  /** Sets how to build the document. It is built when it is needed, which takes longer than creating the application. */
  from(create: () => Promise<OpenAPIObject>): void {
    this.create = create;
  }
}

function topicsOf({ tags = [], paths, ...document }: OpenAPIObject): ApiTopic[] {
  const { webhooks = {} } = document as { webhooks?: DocumentedPaths };
  const operations = [
    ...Object.entries(paths as DocumentedPaths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => operationOf(method.toUpperCase(), path, operation)),
    ),
    ...Object.entries(webhooks).flatMap(([name, item]) =>
      Object.values(item).map((operation) => operationOf('EVENT', name, operation)),
    ),
  ];
  return [...tags, WEBHOOKS]
    .map(({ name: tag, description = '' }) => ({
      tag,
      description,
      path: pathOf(tag),
      surface: tag.includes(SEPARATOR) ? (tag.split(SEPARATOR)[0] ?? '') : '',
      title: topicOf(tag),
      operations: operations.filter((operation) => operation.tag === tag && operation.id !== ''),
    }))
    .filter((topic) => topic.operations.length > 0);
}

const SEPARATOR = ' · ';
const topicOf = (tag: string): string => tag.split(SEPARATOR).at(-1) ?? tag;
const pathOf = (tag: string): string =>
  `${REFERENCE_PATH}/${topicOf(tag).toLowerCase().replaceAll(/\W+/g, '-')}`;

function operationOf(method: string, path: string, operation: DocumentedOperation): ApiOperation {
  const { operationId: id = '', summary = '', description = '', tags: [tag = ''] = [] } = operation;
  return { id, method, path, summary, description, tag, href: `${pathOf(tag)}#${id}` };
}
