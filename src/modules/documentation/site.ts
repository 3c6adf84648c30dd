import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request } from 'express';
import { ServiceConfiguration, type Surface } from '../../infrastructure/config/index.js';
import { NOT_FOUND, type ApiError } from '../../infrastructure/errors/index.js';
import { nearestPath, PublicAddress, StaticContent } from '../../infrastructure/http/index.js';
import { BASE_STYLES } from '../../infrastructure/pages/index.js';
import { LazyValues } from '../../infrastructure/lazy-values/index.js';
import { projectFolder } from '../../infrastructure/project-files/index.js';
import { ApiOperations, isOfReference, REFERENCE_PATH } from './api-operations.js';
import {
  DownloadsContent,
  ErrorContent,
  GuideContent,
  HomeContent,
  type Suggestion,
  type DeploymentAddress,
} from './documentation.pages.js';
import { llmsText, referenceText, topicText } from './agent-texts.js';
import { EXAMPLE_URL, Guides } from './guides.js';
import { ReferencePages } from './reference/reference-pages.js';
import { searchIndexOf, type SearchedPage } from './search-index.js';
import { renderSitePage, type SitePage } from './site-layout.js';

/** Pages run only the scripts of this service, and send requests only to this host. */
const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
};

const MARKDOWN_HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8', Vary: 'Accept' };

const SURFACE_NAMES: readonly (readonly [Surface, string])[] = [
  ['platform', 'Platform API'],
  ['connector', 'Agent connector'],
  ['dashboard', 'Dashboard API'],
  ['careers', 'Careers'],
];

type PageParts = Omit<SitePage, 'groups' | 'path'>;

/** The pages and files of the site. Each is rendered once, at the first request for it. */
export class Site {
  readonly pageHeaders = PAGE_HEADERS;
  private readonly guides: Guides;
  private readonly referencePages: ReferencePages;
  private readonly contents = new LazyValues<StaticContent>();

  constructor(
    private readonly configuration: ServiceConfiguration,
    private readonly address: PublicAddress,
    private readonly operations: ApiOperations,
  ) {
    this.guides = new Guides(this.platformUrl);
    this.referencePages = new ReferencePages(
      this.operations,
      this.addresses,
      this.platformUrl ?? EXAMPLE_URL,
    );
  }

  home(): Promise<StaticContent> {
    return this.rendered('/docs', () => ({
      title: 'Documentation',
      description: 'Guides and API reference of the Merchant Connectivity Service.',
      content: HomeContent({
        groups: this.guides.groups,
        addresses: this.addresses,
        platformUrl: this.platformUrl ?? '$base_url',
      }),
    }));
  }

  /**
   * @param isForAgent whether the client prefers Markdown to HTML
   * @throws ApiError NOT_FOUND if the site has no such page
   */
  page(name: string, isForAgent: boolean): Promise<StaticContent> {
    if (name === 'downloads') return this.downloads();
    if (name === 'llms.txt') return this.list();
    if (isForAgent || name.endsWith('.md')) return this.markdown(name.replace(/\.md$/, ''));
    return isOfReference(`/docs/${name}`) ? this.reference(`/docs/${name}`) : this.guide(name);
  }

  /** The list of all pages for agents (llmstxt.org). */
  private list(): Promise<StaticContent> {
    return this.contents.get('llms.txt', async () => {
      const url = this.platformUrl ?? '';
      return new StaticContent(
        llmsText(this.guides.groups, await this.operations.topics(), url),
        MARKDOWN_HEADERS,
      );
    });
  }

  private markdown(name: string): Promise<StaticContent> {
    const path = `/docs/${name}`;
    return this.contents.get(`${name}.md`, async () => {
      const topics = await this.operations.topics();
      const topic = topics.find((each) => each.path === path);
      const entry = this.guides.entries.find((each) => each.path === path);
      const text = topic
        ? topicText(topic)
        : path === REFERENCE_PATH
          ? referenceText(topics, (await this.operations.document()).info.description ?? '')
          : this.guides.markdown(NOT_FOUND.requireFound(entry));
      return new StaticContent(text, MARKDOWN_HEADERS);
    });
  }

  /** @throws ApiError NOT_FOUND if no topic of the reference has the path */
  private async reference(path: string): Promise<StaticContent> {
    const page = await this.referencePages.find(path);
    return this.rendered(path, async () => ({
      ...(await page()),
      markdown: `${path}.md`,
      scripts: ['reference.mjs'],
      styles: ['reference.css'],
    }));
  }

  private guide(name: string): Promise<StaticContent> {
    const { entries } = this.guides;
    const index = entries.findIndex(({ path }) => path === `/docs/${name}`);
    const entry = NOT_FOUND.requireFound(entries[index]);
    return this.rendered(entry.path, async () => ({
      title: entry.title,
      description: entry.topic.replaceAll('`', ''),
      markdown: `${entry.path}.md`,
      content: GuideContent({
        guide: await this.guides.render(entry),
        date: this.guides.dateOf(entry),
        previous: entries[index - 1],
        next: entries[index + 1],
      }),
    }));
  }

  /** @throws ApiError NOT_FOUND if the site has no such file */
  asset(name: string): Promise<StaticContent> {
    return this.contents.get(`assets/${name}`, async () =>
      name === 'search.json' ? this.searchIndex() : readSiteAsset(name),
    );
  }

  private downloads(): Promise<StaticContent> {
    return this.rendered('/docs/downloads', () => ({
      title: 'Downloads',
      description: 'The packages for integrators.',
      content: DownloadsContent({ packages: downloads(), url: `${this.platformUrl ?? ''}/docs/downloads` }),
    }));
  }

  /** @throws ApiError NOT_FOUND if the site offers no such package */
  download(name: string): Promise<StaticContent> {
    return this.contents.get(`downloads/${name}`, async () => readDownload(name));
  }

  /** Renders a guide in each turn of the event loop. All take 0.6 s, during which other requests would wait. */
  private async searchIndex(): Promise<StaticContent> {
    const pages: SearchedPage[] = [];
    for (const entry of this.guides.entries.filter(({ path }) => path !== REFERENCE_PATH)) {
      pages.push({ entry, sections: (await this.guides.render(entry)).sections });
      await nextTurn();
    }
    const operations = (await this.operations.topics()).flatMap((topic) => topic.operations);
    return new StaticContent(await searchIndexOf(pages, operations), {
      'Content-Type': 'application/json; charset=utf-8',
    });
  }

  /** Returns an error as a page, with the pages that the path may have meant. */
  async errorPage(error: ApiError, request: Request): Promise<string> {
    const title = error.status === 404 ? 'Page not found' : 'This request is not possible';
    const message = error.status === 404 ? 'No page and no operation has this path.' : error.message;
    const suggestions = await this.suggestionsFor(request.path);
    return this.render({ title, content: ErrorContent({ title, message, suggestions }) });
  }

  /** Returns the guide and the operations whose paths are nearest, and the overview for an address of the dashboard. */
  private async suggestionsFor(path: string): Promise<Suggestion[]> {
    const { entries } = this.guides;
    const operations = await this.operations.all();
    const guide = nearestPath(
      path.replace(/^\/docs\//, '/'),
      entries.map((entry) => entry.path.replace('/docs', '')),
    );
    const operation = nearestPath(
      path,
      operations.map((each) => each.path.replaceAll(/\{(\w+)\}/g, ':$1')),
    );
    return [
      ...(path.startsWith('/dashboard') ? [{ title: 'Overview of the dashboard', href: '/dashboard' }] : []),
      ...entries
        .filter((entry) => entry.path === `/docs${guide}`)
        .map(({ title, path: href }) => ({ title, href })),
      ...operations
        .filter((each) => each.path === operation)
        .map(({ method, path: called, href }) => ({ title: `${method} ${called}`, href })),
    ];
  }

  private rendered(path: string, page: () => PageParts | Promise<PageParts>): Promise<StaticContent> {
    const headers = { ...PAGE_HEADERS, Vary: 'Accept' };
    return this.contents.get(path, async () => {
      // Read once, which takes some time at first.
      void this.guides.groups;
      await nextTurn();
      const parts = await page();
      await nextTurn();
      return new StaticContent(this.render({ ...parts, path }), headers);
    });
  }

  private render(page: Omit<SitePage, 'groups'>): string {
    return renderSitePage({ ...page, groups: this.guides.groups });
  }

  /** The address of the platform API; undefined if a production deployment does not configure it. */
  private get platformUrl(): string | undefined {
    const { isProduction } = this.configuration;
    return isProduction ? this.configuration.publicUrlOf('platform') : this.address.of('platform');
  }

  /** The configured addresses; none on a development machine, where everything has the same address. */
  private get addresses(): DeploymentAddress[] {
    return SURFACE_NAMES.flatMap(([surface, name]) => {
      const url = this.configuration.publicUrlOf(surface);
      return url === undefined ? [] : [{ name, url }];
    });
  }
}

const TYPES: Readonly<Record<string, string>> = {
  // The file with the checksums has no extension.
  '': 'text/plain; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.tgz': 'application/gzip',
  '.whl': 'application/zip',
};

const require = createRequire(import.meta.url);
const own = (file: string): Buffer => readFileSync(join(import.meta.dirname, 'assets', file));

/** The files that pages load, and how to read them. */
const ASSETS: Readonly<Record<string, () => string | Buffer>> = {
  'site.css': () => `${BASE_STYLES}${own('site.css').toString()}`,
  'site.mjs': () => own('site.mjs'),
  'reference.css': () => own('reference.css'),
  'reference.mjs': () => own('reference.mjs'),
  // The package exports only its CommonJS build to `require`.
  'minisearch.mjs': () => readFileSync(join(dirname(require.resolve('minisearch')), '../es/index.js')),
};

/** @throws ApiError NOT_FOUND if pages load no such file */
function readSiteAsset(name: string): StaticContent {
  const read = NOT_FOUND.requireFound(Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined);
  return new StaticContent(read(), { 'Content-Type': TYPES[extname(name)] ?? '' });
}

const CHECKSUMS = 'SHA256SUMS';

/** Returns the names of the packages for integrators, with their checksums. `scripts/ensure-clients.mjs` has packed them. */
function downloads(): { readonly name: string; readonly checksum: string }[] {
  const file = join(projectFolder(), 'clients/dist', CHECKSUMS);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => line.split('  ')).map(([checksum = '', name = '']) => ({ name, checksum }));
}

/**
 * Returns a package for integrators, or the file with the checksums.
 *
 * @throws ApiError NOT_FOUND if there is no such file
 */
function readDownload(name: string): StaticContent {
  const isOffered = name === CHECKSUMS || downloads().some((each) => each.name === name);
  const file = join(projectFolder(), 'clients/dist', name);
  if (!isOffered || !existsSync(file)) throw NOT_FOUND.error();
  return new StaticContent(readFileSync(file), { 'Content-Type': TYPES[extname(name)] ?? '' });
}
