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

/** The operations that this deployment documents. */
@Injectable()
export class ApiOperations {
  private document: (() => OpenAPIObject) | undefined;
  private loaded: readonly ApiOperation[] | undefined;

  /** Sets the API document, which is built from the routes of the application and so cannot be injected. */
  from(document: () => OpenAPIObject): void {
    this.document = document;
  }

  get all(): readonly ApiOperation[] {
    return (this.loaded ??= operationsOf(this.document?.()));
  }
}

function operationsOf(document: OpenAPIObject | undefined): ApiOperation[] {
  const order = (document?.tags ?? []).map(({ name }) => name);
  return Object.entries(document?.paths ?? {})
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
