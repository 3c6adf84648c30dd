/**
 * The generated pages have the order in which the modules are loaded, which is another one in the bundle.
 *
 * @jest-environment-options {"usesBundle": false}
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { modulesPage, PAGE as MODULES_PAGE } from '../../scripts/module-documents.mjs';
import { FILE as DATES, pageDates, type PageDates } from '../../scripts/page-dates.mjs';
import { buildOpenApiDocument } from '../../src/openapi.js';
import { referencePages } from '../../src/reference.js';
import { committed, operationsOf } from '../support/documents/documents.js';
import { readSources } from './source-tree.js';

const ROOT = join(import.meta.dirname, '..', '..');
/**
 * Bytes of the document without line breaks, events included, per operation. It had 9,300 when it repeated errors in each of 88
 * operations. A third is what operations and events share, which weighs more for 55 operations.
 */
const MAX_SIZE_PER_OPERATION = 5_250;
/** Bytes. A longer page has several readers or tasks: split it. */
const MAX_PAGE_SIZE = 20_480;

/** Compares a committed file with generated text. A difference is shown below the command that fixes it. */
function expectUpToDate(file: string, written: string, command: string): void {
  const stale = `${file} is stale: run \`${command}\` and commit the result.`;
  expect({ [stale]: committed(file) }).toEqual({ [stale]: written });
}

/** Returns all objects in a value. */
function nodesIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Record<string, unknown>];
  return [...own, ...Object.values(value).flatMap(nodesIn)];
}

/** Returns all objects in a value, with their paths. */
function entriesIn(value: unknown, path = ''): [string, Record<string, unknown>][] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [[path, value] as [string, Record<string, unknown>]];
  return [...own, ...Object.entries(value).flatMap(([key, part]) => entriesIn(part, `${path}/${key}`))];
}

const [MIN_INT32, MAX_INT32] = [-(2 ** 31), 2 ** 31 - 1];
/** Generated clients read numbers without a format as 32 bits: numbers of these names are times or come from a `bigint`. */
const NEEDS_64_BITS = /\/(?:timestamp|iat|exp|\w+_at|task_id|erased)$/;

/** Returns what is wrong with the range or the format of an integer, or nothing. */
function problemOfInteger(path: string, node: Record<string, unknown>): string[] {
  const {
    type,
    format,
    minimum = 0,
    maximum,
  } = node as { type?: unknown; format?: string } & Record<'minimum' | 'maximum', number | undefined>;
  if (![type].flat().includes('integer') || path.endsWith('/properties')) return [];
  const fits = maximum !== undefined && maximum <= MAX_INT32 && minimum >= MIN_INT32;
  const examples = [node['example'], node['default'], node['examples']].flat();
  const isTooLarge = examples.some((example) => typeof example === 'number' && Math.abs(example) > MAX_INT32);
  if (format === 'int64') return fits ? [`${path}: 32 bits are enough for the documented range`] : [];
  if (format !== undefined) return [`${path}: unknown format ${format}`];
  if (!fits || isTooLarge) return [`${path}: the documented range needs format int64 or a maximum`];
  return NEEDS_64_BITS.test(path) ? [`${path}: the column or the unit needs format int64`] : [];
}

describe('Generated documents', () => {
  it('openapi.json is up to date', async () => {
    const document = await buildOpenApiDocument();
    expectUpToDate('openapi.json', `${JSON.stringify(document, null, 2)}\n`, 'npm run openapi');
  });

  it('openapi.json states the limits of the configuration', async () => {
    const { info, paths } = await buildOpenApiDocument({
      PLATFORM_REQUESTS_PER_MINUTE: '7000',
      MCP_TOKEN_REQUESTS_PER_MINUTE: '7001',
      DASHBOARD_REQUESTS_PER_MINUTE: '7002',
      SESSION_OPENS_PER_MINUTE: '7003',
      DEVICE_CODES_PER_MINUTE: '7004',
      OAUTH_REQUESTS_PER_MINUTE: '7005',
      INTROSPECTIONS_PER_MINUTE: '7006',
      APPLICATIONS_PER_HOUR: '7007',
      APPLICATION_RETENTION_DAYS: '7008',
    });
    const documented = (path: string) => paths[path]?.post?.description;
    expect(documented('/mcp/tokens/create')).toContain('Limit: 7001 requests per minute per client');
    expect(info.description).toContain('The platform API accepts 7000 requests per minute per client');
    expect(info.description).toContain('the dashboard API 7002 per minute per user');
    expect(documented('/session/open')).toContain('Limit: 7003 requests per minute per IP address');
    expect(documented('/oauth/device/code')).toContain('Limit: 7004 requests per minute per IP address');
    expect(documented('/oauth/token')).toContain('Limit: 7005 requests per minute per IP address');
    expect(documented('/oauth/revoke')).toContain('Limit: 7005 requests per minute per IP address');
    expect(documented('/oauth/introspect')).toContain('Limit: 7006 requests per minute per client');
    expect(documented('/apply')).toContain('Limit: 7007 requests per hour per IP address');
    expect(documented('/apply')).toContain('deleted after 7008 days');
  });

  it('openapi.json names the release, and the contact and terms of the configuration', async () => {
    const { info } = await buildOpenApiDocument({
      SUPPORT_URL: 'https://www.example.com/help',
      SUPPORT_EMAIL: 'help@example.com',
      TERMS_URL: 'https://www.example.com/terms',
    });
    expect(info).toMatchObject({
      version: JSON.parse(committed('package.json')).version,
      contact: { url: 'https://www.example.com/help', email: 'help@example.com' },
      license: { url: 'https://www.example.com/terms' },
    });
    const { info: own } = JSON.parse(committed('openapi.json'));
    expect(JSON.stringify([own.contact, own.license])).not.toContain('.example');
  });

  it('openapi.json lists Basic credentials last: generated clients that apply all of them send the last ones', () => {
    const { paths } = JSON.parse(committed('openapi.json'));
    const others = operationsOf({ paths }).filter(({ security }) => {
      const schemes = security.flatMap((each) => Object.keys(each));
      return schemes.includes('basic') && schemes.at(-1) !== 'basic';
    });
    expect(others.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('openapi.json leads to no constant with the name of a type of the client that oapi-codegen generates', () => {
    const { components } = JSON.parse(committed('openapi.json'));
    const constants = Object.values<{ enum?: string[]; 'x-enumNames'?: string[] }>(
      components.schemas,
    ).flatMap(({ enum: values = [], 'x-enumNames': names = values }) => names);
    const own = ['client', 'clientinterface', 'clientoption', 'httprequestdoer', 'requesteditorfn'];
    const taken = constants.filter((name) =>
      own.includes(String(name).replaceAll(/\W|_/g, '').toLowerCase()),
    );
    expect(taken).toEqual([]);
  });

  it('openapi.json gives each integer the format of its range', () => {
    const document = JSON.parse(committed('openapi.json'));
    expect(entriesIn(document).flatMap(([path, node]) => problemOfInteger(path, node))).toEqual([]);
  });

  it('openapi.json calls only access tokens JWTs, and states the limits of each Idempotency-Key', () => {
    const { components } = JSON.parse(committed('openapi.json'));
    const schemes = Object.entries<{ bearerFormat?: string }>(components.securitySchemes);
    expect(schemes.filter(([, { bearerFormat }]) => bearerFormat === 'JWT').map(([name]) => name)).toEqual([
      'bearer',
    ]);
    const parameters = Object.values<Record<string, { pattern: string; maxLength: number }>>(
      components.parameters,
    );
    const keys = parameters.filter(({ name }) => (name as unknown) === 'Idempotency-Key');
    expect(keys).toHaveLength(2);
    const longest = 'k'.repeat(255);
    for (const { schema = { pattern: '', maxLength: 0 } } of keys) {
      const isAllowed = (key: string): boolean =>
        key.length <= schema.maxLength && new RegExp(schema.pattern).test(key);
      const allowed = ['k', '"k"', String.raw`"a \"b\" \\"`, longest, `"${longest}"`];
      expect(allowed.filter((key) => !isAllowed(key))).toEqual([]);
      const refused = ['', ' ', '""', 'a b', 'é', `${longest}k`, `"${longest}k"`, '"a"b"'];
      expect(refused.filter(isAllowed)).toEqual([]);
    }
  });

  it('openapi.json names the topic of each operation, and describes all topics', () => {
    const { paths, tags } = JSON.parse(committed('openapi.json'));
    const described = tags.filter(({ description }: { description: string }) => description !== '');
    const topics = described.map(({ name }: { name: string }) => name);
    const bare = operationsOf({ paths }).filter(({ tags: [topic] }) => !topics.includes(topic));
    expect(bare.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('openapi.json names the servers of operations if the surfaces have hosts of their own', async () => {
    const { paths } = await buildOpenApiDocument({
      DASHBOARD_URL: 'https://dashboard.example.com',
      PLATFORM_URL: 'https://api.example.com',
    });
    const server = { url: 'https://dashboard.example.com', description: 'Dashboard API' };
    expect(paths['/request-logs']?.get?.servers).toEqual([server]);
    expect(paths['/session/create']?.post?.servers).toEqual([
      { url: 'https://api.example.com', description: 'Platform API' },
    ]);
    expect(paths['/apply']?.post).not.toHaveProperty('servers');
  });

  it('openapi.json says of each POST whether it may be repeated, as the documentation does', () => {
    const { paths } = JSON.parse(committed('openapi.json'));
    const page = committed('docs/repeated-requests.md');
    const answers = { always: 'yes', with_idempotency_key: 'with an idempotency key', never: 'no' };
    const wrong = Object.entries<{ post?: { 'x-repeatable'?: keyof typeof answers } }>(paths).flatMap(
      ([path, { post }]) => {
        if (!post) return [];
        const row = page.split('\n').find((line) => line.startsWith(`| \`POST ${path}\` |`)) ?? '';
        const answer = post['x-repeatable'] && answers[post['x-repeatable']];
        return answer !== undefined && row.endsWith(` | ${answer} |`) ? [] : [path];
      },
    );
    expect(wrong).toEqual([]);
  });

  it('openapi.json has one shape of pages', () => {
    const { components } = JSON.parse(committed('openapi.json'));
    const pages = Object.values<{ properties?: object }>(components.schemas).filter(
      ({ properties = {} }) => 'next_cursor' in properties,
    );
    expect(pages.length).toBeGreaterThan(4);
    const shapes = new Set(pages.map(({ properties = {} }) => Object.keys(properties).join()));
    // The event feed has no last page.
    expect([...shapes]).toEqual(['data,next_cursor,limit', 'data,next_cursor,has_more,delayed']);
  });

  it('openapi.json repeats little', () => {
    const openapi = JSON.parse(committed('openapi.json'));
    const operations = Object.values<object>(openapi.paths).flatMap((path) => Object.keys(path));
    const size = Buffer.byteLength(JSON.stringify(openapi));
    expect(size / operations.length).toBeLessThan(MAX_SIZE_PER_OPERATION);
  });

  it('openapi.json names every enumeration and every object with properties', () => {
    const { components, ...rest } = JSON.parse(committed('openapi.json'));
    const inside = Object.values<object>(components.schemas).flatMap((schema) => Object.values(schema));
    const parts = [
      ...inside,
      ...Object.values(components.responses),
      ...Object.values(components.parameters),
    ];
    const isAnonymous = (node: Record<string, unknown>): boolean =>
      Array.isArray(node['enum']) || (node['type'] === 'object' && node['properties'] !== undefined);
    expect([...parts, rest].flatMap(nodesIn).filter(isAnonymous)).toEqual([]);
  });

  it.each(Object.entries(referencePages()))('%s is up to date', (file, text) =>
    expectUpToDate(file, text, 'npm run docs'),
  );

  it(`${MODULES_PAGE} is up to date`, () =>
    expectUpToDate(MODULES_PAGE, modulesPage(readSources()), 'npm run docs'));

  it(`${DATES} has the pages as they are`, () => {
    const known = JSON.parse(committed(DATES)) as PageDates;
    const stale = `${DATES} is stale: run \`npm run docs\` and commit the result.`;
    expect({ [stale]: known }).toEqual({ [stale]: pageDates(known, 'changed') });
  });
});

describe('Each page of docs', () => {
  it('has at most 20 KB, so that people read it, unless it is generated', () => {
    const pages = readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'));
    const long = pages.filter((file) => {
      const text = committed(`docs/${file}`);
      return Buffer.byteLength(text) > MAX_PAGE_SIZE && !text.includes('<!-- Generated from the code');
    });
    expect(long).toEqual([]);
  });
});

describe('The pages about the architecture', () => {
  const page = ['architecture', 'architecture-modules', 'architecture-infrastructure', 'architecture-flows']
    .map((name) => committed(`docs/${name}.md`))
    .join('\n');
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\|[^|]+\|(.*)/gm)];

  it('lists exactly the folders of src/modules and src/infrastructure in their tables', () => {
    const folders = ['modules', 'infrastructure'].flatMap((parent) => readdirSync(join(ROOT, 'src', parent)));
    expect(rows.map(([, name]) => name).toSorted()).toEqual(folders.toSorted());
  });

  it('names only kinds of files that exist', () => {
    const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const endings = [...page.matchAll(/^\| `\*([\w.-]+)`/gm)].map(([, ending = '']) => ending);
    expect(endings.length).toBeGreaterThan(10);
    expect(endings.filter((ending) => !files.some((file) => file.endsWith(ending)))).toEqual([]);
  });

  it('names only files that exist', () => {
    const paths = [...page.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
