import { basename, dirname, extname, posix } from 'node:path';
import { slug } from 'github-slugger';
import { Marked, type Token, type Tokens } from 'marked';
import { readProjectFile } from '../../infrastructure/project-files/index.js';
import { REFERENCE_PATH } from './api-operations.js';
import {
  renderMarkdown,
  type LinkTarget,
  type RenderedMarkdown,
  type ResolveLink,
} from './rendered-markdown.js';

/**
 * The audiences whose pages the site publishes. The pages for operators and contributors describe the inside of a
 * deployment, such as its alerts and what it does not defend against. Their readers have the repository, and integrators
 * would find them in every search.
 */
const PUBLISHED_AUDIENCES = ['For integrators', "For the platform's services"];
const API_DOCUMENT = 'openapi.json';
const CATALOG = 'docs/README.md';
/** Pages in the repository use this address. */
export const EXAMPLE_URL = 'https://api.example.com';

/** `scripts/page-dates.mjs` writes it. */
const DATES = 'docs/page-dates.json';
type PageDates = Readonly<Record<string, { readonly date: string }>>;

const LINK = /\[([^\]]*)\]\(([^)\s]+)\)/g;
const COMMENT = /^<!--[^]*?-->\n+/gm;
/** Pages of the site that exist as Markdown, too. */
const PAGE_PATH = /^(\/docs\/[\w-]+)(?=#|$)/;

/** An entry of the navigation: a guide, or the API reference. */
export interface CatalogEntry {
  readonly title: string;
  /** The topic of the page, in a few words. */
  readonly topic: string;
  readonly path: string;
  /** The file in the repository. */
  readonly file: string;
}

export interface CatalogGroup {
  readonly title: string;
  readonly entries: readonly CatalogEntry[];
}

/** The pages of the site. `docs/README.md` lists them with their groups, for readers of the repository too. */
export class Guides {
  private loaded: readonly CatalogGroup[] | undefined;
  private dates: PageDates | undefined;

  /** @param platformUrl replaces the address of the example in the commands that install packages */
  constructor(private readonly platformUrl: string = EXAMPLE_URL) {}

  get groups(): readonly CatalogGroup[] {
    return (this.loaded ??= loadCatalog());
  }

  get entries(): readonly CatalogEntry[] {
    return this.groups.flatMap(({ entries }) => entries);
  }

  /** Returns when a page last changed, such as `2026-01-31`; undefined for a page that is not a file. */
  dateOf({ file }: CatalogEntry): string | undefined {
    this.dates ??= JSON.parse(readProjectFile(DATES)) as PageDates;
    return this.dates[file]?.date;
  }

  /** Renders a page, followed by the programs that it links to, because readers of the site do not have the repository. */
  render(entry: CatalogEntry): Promise<RenderedMarkdown> {
    const { markdown, resolve } = this.load(entry);
    return renderMarkdown(markdown, resolve);
  }

  /** Returns a page as Markdown, for agents: with links to the pages of the site, and without instructions to the tests. */
  markdown(entry: CatalogEntry): string {
    const { markdown, resolve } = this.load(entry);
    const withLinks = markdown.replaceAll(LINK, (_link, text: string, href: string) => {
      const target = resolve(href)?.href;
      return target === undefined ? text : `[${text}](${target.replace(PAGE_PATH, '$1.md')})`;
    });
    const date = this.dateOf(entry);
    return `${withLinks.replaceAll(COMMENT, '').trimEnd()}\n${date === undefined ? '' : `\nLast changed: ${date}\n`}`;
  }

  private load({ file }: CatalogEntry): { readonly markdown: string; readonly resolve: ResolveLink } {
    const downloads = '/docs/downloads/';
    const markdown = readProjectFile(file).replaceAll(EXAMPLE_URL + downloads, this.platformUrl + downloads);
    const programs = programsOf(file, markdown);
    const sections = [...programs.values()].map((program) => {
      const code = readProjectFile(program).trimEnd();
      return ['', `## ${basename(program)}`, '', `\`\`\`${extname(program).slice(1)}`, code, '```', ''].join(
        '\n',
      );
    });
    return {
      markdown: [markdown, ...sections].join('\n'),
      resolve: (href) => {
        const program = programs.get(href);
        return program === undefined ? this.resolve(file, href) : { href: `#${slug(basename(program))}` };
      },
    };
  }

  private resolve(from: string, href: string): LinkTarget | undefined {
    if (/^(?:[a-z]+:|#|\/)/.test(href)) return { href };
    const [path = '', anchor] = href.split('#');
    const file = posix.join(posix.dirname(from), path);
    if (file === CATALOG) return { href: '/docs' };
    if (file === API_DOCUMENT) return { href: `/${file}` };
    const entry = this.entries.find((each) => each.file === file);
    return entry && { href: `${entry.path}${anchor === undefined ? '' : `#${anchor}`}`, title: entry.title };
  }
}

/** Returns the programs of `examples` that a page links to, by the address of the link. */
function programsOf(file: string, markdown: string): Map<string, string> {
  const hrefs = [...markdown.matchAll(/\]\(([^)\s]+\.(?!md)\w+)\)/g)].map(([, href = '']) => href);
  const files = hrefs.map((href) => [href, posix.join(posix.dirname(file), href)] as const);
  return new Map(files.filter(([, program]) => program.startsWith('examples/')));
}

/** Reads the tables below the headings of the published audiences. */
function loadCatalog(): CatalogGroup[] {
  const groups: { title: string; entries: CatalogEntry[] }[] = [];
  let isPublished = false;
  for (const token of new Marked().lexer(readProjectFile(CATALOG))) {
    if (token.type === 'heading') {
      const { depth, text } = token as Tokens.Heading;
      const [title = ''] = text.split(':');
      if (depth <= 2) isPublished = PUBLISHED_AUDIENCES.includes(title);
      if (isPublished) groups.push({ title, entries: [] });
    }
    if (token.type === 'table' && isPublished)
      groups.at(-1)?.entries.push(...(token as Tokens.Table).rows.map(entryOf));
  }
  return groups.filter(({ entries }) => entries.length > 0);
}

function entryOf([page, topic]: readonly Tokens.TableCell[]): CatalogEntry {
  const link = page?.tokens.find((token): token is Tokens.Link => (token as Token).type === 'link');
  const file = posix.join(posix.dirname(CATALOG), link?.href ?? '');
  const isDocument = file === API_DOCUMENT;
  return {
    title: isDocument ? 'API reference' : titleOf(file),
    topic: topic?.text ?? '',
    path: isDocument ? REFERENCE_PATH : `/docs/${nameOf(file)}`,
    file,
  };
}

/** Returns `webhooks` for `docs/webhooks.md`, and `receivers` for `examples/receivers/README.md`. */
function nameOf(file: string): string {
  const name = basename(file, '.md');
  return (name === 'README' ? basename(dirname(file)) : name).toLowerCase();
}

const titleOf = (file: string): string => /^# (.+)$/m.exec(readProjectFile(file))?.[1] ?? file;
