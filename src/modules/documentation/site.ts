import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request } from 'express';
import { ServiceConfiguration, type Surface } from '../../infrastructure/config/index.js';
import { NOT_FOUND, type ApiError } from '../../infrastructure/errors/index.js';
import { nearestPath, PublicAddress, StaticContent } from '../../infrastructure/http/index.js';
import { BASE_STYLES } from '../../infrastructure/pages/index.js';
import { projectFolder } from '../../infrastructure/project-files/index.js';
import { ApiOperations } from './api-operations.js';
import {
  DownloadsContent,
  ErrorContent,
  GuideContent,
  HomeContent,
  ReferenceContent,
  type Suggestion,
  type DeploymentAddress,
} from './documentation.pages.js';
import { Guides, REFERENCE_PATH } from './guides.js';
import { searchIndexOf, type SearchedPage } from './search-index.js';
import { renderSitePage, type SitePage } from './site-layout.js';

/** Pages run only the scripts of this service, and send requests only to this host. */
const headersWith = (styles: string) => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
});
const PAGE_HEADERS = headersWith("'self'");
/** Swagger UI writes styles into its elements. */
const REFERENCE_HEADERS = headersWith("'self' 'unsafe-inline'");

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
  private readonly contents = new Map<string, Promise<StaticContent>>();

  constructor(
    private readonly configuration: ServiceConfiguration,
    private readonly address: PublicAddress,
    private readonly operations: ApiOperations,
  ) {
    this.guides = new Guides(this.platformUrl);
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

  /** @throws ApiError NOT_FOUND if the site has no such page */
  page(name: string): Promise<StaticContent> {
    if (name === 'downloads') return this.downloads();
    return `/docs/${name}` === REFERENCE_PATH ? this.reference() : this.guide(name);
  }

  private reference(): Promise<StaticContent> {
    return this.rendered(REFERENCE_PATH, async () => ({
      title: 'API reference',
      description: 'All operations of the Merchant Connectivity Service.',
      content: ReferenceContent({ operations: await this.operations.all(), addresses: this.addresses }),
      scripts: ['swagger-ui-bundle.js', 'reference.mjs'],
      styles: ['swagger-ui.css'],
      isWide: true,
    }));
  }

  private guide(name: string): Promise<StaticContent> {
    const { entries } = this.guides;
    const index = entries.findIndex(({ path }) => path === `/docs/${name}`);
    const entry = NOT_FOUND.unlessFound(entries[index]);
    return this.rendered(entry.path, async () => ({
      title: entry.title,
      description: entry.topic.replaceAll('`', ''),
      content: GuideContent({
        guide: await this.guides.render(entry),
        previous: entries[index - 1],
        next: entries[index + 1],
      }),
    }));
  }

  /** @throws ApiError NOT_FOUND if the site has no such file */
  asset(name: string): Promise<StaticContent> {
    return this.once(`assets/${name}`, () =>
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
    return this.once(`downloads/${name}`, () => readDownload(name));
  }

  /** Renders a guide in each turn of the event loop. All take 0.6 s, during which other requests would wait. */
  private async searchIndex(): Promise<StaticContent> {
    const pages: SearchedPage[] = [];
    for (const entry of this.guides.entries.filter(({ path }) => path !== REFERENCE_PATH)) {
      pages.push({ entry, sections: (await this.guides.render(entry)).sections });
      await nextTurn();
    }
    return new StaticContent(await searchIndexOf(pages, await this.operations.all()), {
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
    const headers = path === REFERENCE_PATH ? REFERENCE_HEADERS : PAGE_HEADERS;
    return this.once(path, async () => {
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

  private async once(
    name: string,
    create: () => StaticContent | Promise<StaticContent>,
  ): Promise<StaticContent> {
    const found = this.contents.get(name);
    if (found) return found;
    const content = Promise.resolve(create());
    this.contents.set(name, content);
    // The next request tries again.
    content.catch(() => this.contents.delete(name));
    return content;
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
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
};

const require = createRequire(import.meta.url);
const own = (file: string): Buffer => readFileSync(join(import.meta.dirname, 'assets', file));

/** The files that pages load, and how to read them. */
const ASSETS: Readonly<Record<string, () => string | Buffer>> = {
  'site.css': () => `${BASE_STYLES}${own('site.css').toString()}`,
  'site.mjs': () => own('site.mjs'),
  'reference.mjs': () => own('reference.mjs'),
  // The package exports only its CommonJS build to `require`.
  'minisearch.mjs': () => readFileSync(join(dirname(require.resolve('minisearch')), '../es/index.js')),
  'swagger-ui.css': () => readFileSync(require.resolve('swagger-ui-dist/swagger-ui.css')),
  'swagger-ui-bundle.js': () => readFileSync(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
};

/** @throws ApiError NOT_FOUND if pages load no such file */
function readSiteAsset(name: string): StaticContent {
  const read = NOT_FOUND.unlessFound(Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined);
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
  const type = name === CHECKSUMS ? 'text/plain; charset=utf-8' : 'application/gzip';
  return new StaticContent(readFileSync(file), { 'Content-Type': type });
}
