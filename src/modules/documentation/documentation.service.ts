import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { isObject } from 'class-validator';
import type { Request, Response } from 'express';
import { stringify } from 'yaml';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import { NOT_FOUND, type ApiError } from '../../infrastructure/errors/index.js';
import { PublicAddress, StaticContent } from '../../infrastructure/http/index.js';
import { lazy, lazyModule, LazyValues } from '../../infrastructure/lazy-values/index.js';
import { toVersion30 } from '../../infrastructure/openapi/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { securityText } from './agent-texts.js';
import { ApiOperations } from './api-operations.js';
import type { Site } from './site.js';

const JSON_TYPE = 'application/json; charset=utf-8';

const site = lazyModule<typeof import('./site.js')>('./site.js', import.meta.url);
/** The files that it imports. */
const PARTS = ['./rendered-markdown.js', './search-index.js'].map((name) =>
  lazyModule(name, import.meta.url),
);

type WriteDocument = (document: OpenAPIObject) => string | Promise<string>;

/** The forms of the API document: their media types, and how to write them. */
const DOCUMENTS = {
  'openapi.json': [JSON_TYPE, (document) => JSON.stringify(document)],
  'openapi-3.0.json': [JSON_TYPE, (document) => JSON.stringify(toVersion30(document))],
  'openapi.yaml': ['text/yaml; charset=utf-8', toYaml],
} satisfies Record<string, readonly [string, WriteDocument]>;

/**
 * Sends the pages and files of the site. Loads the site at the first request, because its libraries take 60 ms and 11 MB,
 * which commands and workers do not need.
 */
@Injectable()
export class DocumentationService {
  private readonly documents = new LazyValues<StaticContent>();
  private readonly load = lazy(() => this.loadInParts());

  constructor(
    private readonly configuration: ServiceConfiguration,
    private readonly address: PublicAddress,
    private readonly operations: ApiOperations,
    private readonly clock: Clock,
  ) {}

  /** Where `/` leads: to the dashboard, if this process serves it. */
  start(): { url: string } {
    return { url: this.configuration.serves('dashboard') ? '/dashboard' : '/docs' };
  }

  /** Returns where the API reference shows an operation. @throws ApiError NOT_FOUND */
  async operation(id: string): Promise<{ url: string }> {
    const operations = await this.operations.all();
    return { url: NOT_FOUND.requireFound(operations.find((operation) => operation.id === id)).href };
  }

  /**
   * Sends a page or a file of the site.
   *
   * @throws ApiError NOT_FOUND if the site does not have it
   */
  async send(
    find: (site: Site) => Promise<StaticContent>,
    request: Request,
    response: Response,
  ): Promise<void> {
    const content = await find(await this.load());
    await content.send(request, response);
  }

  /** Sends a page: as Markdown to clients that prefer it, such as agents. @throws ApiError NOT_FOUND */
  sendPage(name: string, request: Request, response: Response): Promise<void> {
    const isForAgent = request.accepts(['html', 'text/markdown']) === 'text/markdown';
    return this.send((site) => site.page(name, isForAgent), request, response);
  }

  /** Returns a page about the error. Redirects addresses of the site that end with a slash. */
  async errorPage(error: ApiError, request: Request, response: Response): Promise<string> {
    if (/^\/docs\/(?:[\w-]+\/)?$/.test(request.path)) {
      response.redirect(request.path.slice(0, -1));
      return '';
    }
    const site = await this.load();
    const page = await site.errorPage(error, request);
    response.set(site.pageHeaders);
    return page;
  }

  /**
   * Sends the file that says where to report security problems.
   *
   * @throws ApiError NOT_FOUND if the operator has not set how to reach support
   */
  sendSecurityText(response: Response): void {
    const { supportEmail, supportUrl } = this.configuration;
    const contacts = [
      ...(supportEmail ? [`mailto:${supportEmail}`] : []),
      ...(supportUrl ? [supportUrl] : []),
    ];
    if (contacts.length === 0) throw NOT_FOUND.error();
    const url = this.configuration.publicUrlOf('platform');
    response.type('text/plain').send(securityText(contacts, this.clock.now(), url));
  }

  /** Sends the API document, which is created at the first request for it. */
  async sendDocument(name: keyof typeof DOCUMENTS, request: Request, response: Response): Promise<void> {
    const content = await this.documents.get(name, () => this.written(name));
    await content.send(request, response);
  }

  private async written(name: keyof typeof DOCUMENTS): Promise<StaticContent> {
    const [type, write] = DOCUMENTS[name];
    return new StaticContent(await write(await this.operations.document()), { 'Content-Type': type });
  }

  /** Loads the libraries in several turns of the event loop. */
  private async loadInParts(): Promise<Site> {
    for (const load of PARTS) {
      load();
      await nextTurn();
    }
    const { Site } = site();
    await nextTurn();
    return new Site(this.configuration, this.address, this.operations);
  }
}

/** The document has groups of operations and schemas at two levels. */
const LEVELS = 2;

/** Writes a part of the document in each turn of the event loop. The whole takes 0.1 s, during which other requests would wait. */
async function toYaml(document: OpenAPIObject): Promise<string> {
  const parts: string[] = [];
  const write = async (value: object, depth: number): Promise<void> => {
    const margin = '  '.repeat(LEVELS - depth);
    for (const [name, content] of Object.entries(value) as [string, unknown][]) {
      const isSplit = depth > 0 && isObject<object>(content) && Object.keys(content).length > 0;
      parts.push(
        isSplit
          ? `${margin}${yamlOf({ [name]: null }).replace(' null', '')}`
          : indented(name, content, margin),
      );
      if (isSplit) await write(content, depth - 1);
      else await nextTurn();
    }
  };
  await write(document, LEVELS);
  return parts.join('');
}

const indented = (name: string, content: unknown, margin: string): string =>
  yamlOf({ [name]: content }).replaceAll(/^(?=.)/gm, margin);
const yamlOf = (value: object): string => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
