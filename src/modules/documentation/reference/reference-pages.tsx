import { setImmediate as nextTurn } from 'node:timers/promises';
import { renderToString } from 'preact-render-to-string';
import { errorCatalog, NOT_FOUND } from '../../../infrastructure/errors/index.js';
import { lazy } from '../../../infrastructure/lazy-values/index.js';
import { REFERENCE_PATH, type ApiOperations, type ApiTopic } from '../api-operations.js';
import type { DeploymentAddress } from '../documentation.pages.js';
import type { SitePage } from '../site-layout.js';
import { ReferenceDocument } from './described-operation.js';
import { OperationSection } from './operation-section.js';
import { OverviewContent, ReferenceNavigation, TopicContent } from './reference-content.js';
import { ReferenceContext, type Reference } from './reference-context.js';

type ReferencePage = Pick<SitePage, 'title' | 'description' | 'navigation' | 'content'>;

/** The pages of the API reference, rendered from the API document: an overview, and a page for each topic. */
export class ReferencePages {
  private readonly context = lazy(() => this.createContext());

  /**
   * @param addresses of the surfaces that have their own
   * @param baseUrl of the platform API, for examples
   */
  constructor(
    private readonly operations: ApiOperations,
    private readonly addresses: readonly DeploymentAddress[],
    private readonly baseUrl: string,
  ) {}

  /** Returns a function that renders the page. @throws ApiError NOT_FOUND if no topic has the path */
  async find(path: string): Promise<() => Promise<ReferencePage>> {
    const topics = await this.operations.topics();
    const navigation = <ReferenceNavigation topics={topics} path={path} />;
    if (path === REFERENCE_PATH) return async () => ({ ...(await this.overview(topics)), navigation });
    const topic = NOT_FOUND.requireFound(topics.find((each) => each.path === path));
    return async () => ({ ...(await this.topic(topic)), navigation });
  }

  private async overview(topics: readonly ApiTopic[]): Promise<ReferencePage> {
    const { info } = await this.operations.document();
    return {
      title: 'API reference',
      description: 'All operations of the Merchant Connectivity Service.',
      content: (
        <ReferenceContext.Provider value={await this.context()}>
          <OverviewContent topics={topics} addresses={this.addresses} conventions={info.description ?? ''} />
        </ReferenceContext.Provider>
      ),
    };
  }

  /** Renders an operation in each turn of the event loop. A topic takes up to 0.1 s, during which other requests would wait. */
  private async topic(topic: ApiTopic): Promise<ReferencePage> {
    const context = await this.context();
    const sections: string[] = [];
    for (const operation of topic.operations) {
      await nextTurn();
      const section = (
        <ReferenceContext.Provider value={context}>
          <OperationSection operation={context.document.describe(operation)} />
        </ReferenceContext.Provider>
      );
      sections.push(renderToString(section));
    }
    return {
      title: `${topic.title} · API reference`,
      description: `The operations of the topic ${topic.tag}.`,
      content: (
        <ReferenceContext.Provider value={context}>
          <TopicContent topic={topic} sections={sections} />
        </ReferenceContext.Provider>
      ),
    };
  }

  private async createContext(): Promise<Reference> {
    const topics = await this.operations.topics();
    const links = new Map([
      ...errorCatalog().map(({ code }) => [code, `/docs/errors#${code.toLowerCase()}`] as const),
      ...topics.flatMap(({ operations }) =>
        operations.flatMap(({ method, path, href }) => [
          [`${method} ${path}`, href] as const,
          ...(method === 'EVENT' ? [[path, href] as const] : []),
        ]),
      ),
    ]);
    return {
      document: new ReferenceDocument(await this.operations.document()),
      baseUrl: this.baseUrl,
      linkOf: (name) => (/^\/docs\/[\w-]+$/.test(name) ? name : links.get(name)),
    };
  }
}
