import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

/** An operation of the API document, as the site shows it. */
export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** The surface and the topic, such as `Platform API · MCP tokens`. */
  readonly tag: string;
  /** Opens the operation in the API reference. */
  readonly href: string;
}

interface DocumentedOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

/** The API document of this deployment, and the operations in it. */
@Injectable()
export class ApiOperations {
  private create: () => Promise<OpenAPIObject> = () => {
    throw new Error('The API document needs the routes of an application.');
  };
  private created: Promise<OpenAPIObject> | undefined;
  private loaded: Promise<readonly ApiOperation[]> | undefined;

  /** Sets how to build the document. It is built when it is needed, which takes longer than creating the application. */
  from(create: () => Promise<OpenAPIObject>): void {
    this.create = create;
  }

  document(): Promise<OpenAPIObject> {
    return (this.created ??= this.create());
  }

  all(): Promise<readonly ApiOperation[]> {
    return (this.loaded ??= this.document().then(operationsOf));
  }
}

function operationsOf(document: OpenAPIObject): ApiOperation[] {
  const order = (document.tags ?? []).map(({ name }) => name);
  return Object.entries(document.paths)
    .flatMap(([path, item]) =>
      Object.entries(item as Record<string, DocumentedOperation>)
        .filter(([, { operationId }]) => operationId !== undefined)
        .map(([method, operation]) => operationOf(method, path, operation)),
    )
    .toSorted((left, right) => order.indexOf(left.tag) - order.indexOf(right.tag));
}

function operationOf(method: string, path: string, operation: DocumentedOperation): ApiOperation {
  const { operationId = '', summary = '', description = '', tags: [tag = ''] = [] } = operation;
  const href = `/docs/api#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`;
  return { method: method.toUpperCase(), path, summary, description, tag, href };
}
