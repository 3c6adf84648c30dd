import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..', '..');
const TIMEOUT = 60_000;

let registry: Server | undefined;
afterEach(() => new Promise((closed) => (registry ? registry.close(closed) : closed(undefined))));

/** Runs the check with a registry that responds like this to queries for advisories. */
async function audit(status: number, advisories: object): Promise<{ code: number; output: string }> {
  registry = createServer((request, response) => {
    const isQuery = request.url?.endsWith('/security/advisories/bulk') ?? false;
    response.writeHead(isQuery ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isQuery ? advisories : installed(decodeURIComponent(request.url ?? ''))));
  });
  await new Promise<void>((listening) => registry?.listen(0, '127.0.0.1', listening));
  const { port } = registry.address() as AddressInfo;
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_fetch_retries: '0',
    // Otherwise, npm asks the registry for a newer npm once a week.
    npm_config_update_notifier: 'false',
    // npm caches advisories.
    npm_config_cache: mkdtempSync(join(tmpdir(), 'npm-')),
  };
  return new Promise((resolve) => {
    execFile(join(PROJECT, '.ci', 'audit'), { env }, (error, stdout) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout }),
    );
  });
}

/** Returns the registry's document of a package, with only the installed version. */
function installed(path: string): object {
  const name = path.slice(1);
  const file = join(PROJECT, 'node_modules', name, 'package.json');
  const { version, dependencies } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return {
    name,
    'dist-tags': { latest: version },
    versions: { [`${version}`]: { name, version, dependencies } },
  };
}

const advisory = (severity: string): object => ({
  express: [{ id: 1, url: 'https://example.com/1', title: 'A flaw', severity, vulnerable_versions: '*' }],
});

describe('.ci/audit', () => {
  it.each([
    ['no advisory', {}, 0, /^\d+ production packages, 0 with severe vulnerabilities\.$/m],
    ['a moderate advisory', advisory('moderate'), 0, / 0 with severe vulnerabilities\.$/m],
    ['a high advisory', advisory('high'), 1, /^express .*: high$/m],
  ])(
    'decides by the advisories of the registry: %s',
    async (_what, advisories, code, message) => {
      expect(await audit(200, advisories)).toEqual({ code, output: expect.stringMatching(message) });
    },
    TIMEOUT,
  );

  it(
    'passes with a notice if the registry cannot be queried',
    async () => {
      expect(await audit(405, {})).toEqual({ code: 0, output: expect.stringMatching(/^NOT CHECKED: .*405/) });
    },
    TIMEOUT,
  );
});

describe('.ci/phone-metadata', () => {
  it.each([
    ['2027-11-10', 0],
    ['2027-11-11', 1],
  ])('says on %s whether the metadata is older than a year', async (day, expected) => {
    const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
      execFile(join(PROJECT, '.ci', 'phone-metadata'), [day], (error, stdout) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout }),
      );
    });
    expect([code, output.includes('must not be older than a year')]).toEqual([expected, expected === 1]);
  });
});

describe('.ci/api-changes', () => {
  const released = {
    paths: {
      '/gifts/create': {
        post: {
          parameters: [
            { name: 'dry_run', in: 'query', schema: { type: 'boolean' } },
            { $ref: '#/components/parameters/Key' },
          ],
          requestBody: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Create' } } },
          },
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Gift' } } } },
          },
        },
      },
      '/gifts/list': { get: { responses: { 200: {} } } },
    },
    components: {
      parameters: { Key: { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } } },
      schemas: {
        Create: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string', maxLength: 20 },
            kind: { type: 'string', enum: ['card', 'code'] },
            notes: { type: 'array', items: { type: 'string' } },
          },
        },
        Gift: {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'integer' }, name: { type: 'string' } },
        },
      },
    },
  };
  type Released = typeof released;

  /** Returns the exit code and the lines that a change of the document causes. */
  async function compare(change: (document: Released) => unknown, changelog = ''): Promise<[number, string]> {
    const folder = await mkdtemp(join(tmpdir(), 'api-changes-'));
    const document = structuredClone(released);
    change(document);
    const text = `## Unreleased\n\n### Breaking changes\n\n${changelog}\n\n### Added\n\n- \`/gifts/list\`\n\n## 0.1.0\n`;
    const files = await Promise.all(
      [JSON.stringify(released), JSON.stringify(document), text].map(async (content, index) => {
        const file = join(folder, String(index));
        await writeFile(file, content);
        return file;
      }),
    );
    return new Promise((resolve) => {
      execFile(join(PROJECT, '.ci', 'api-changes'), files, (error, stdout) =>
        resolve([Number(error?.code ?? 0), stdout]),
      );
    });
  }

  const remove = (container: object, key: string): boolean => Reflect.deleteProperty(container, key);
  const create = ({ paths }: Released) => paths['/gifts/create'].post;
  const input = ({ components }: Released) => components.schemas.Create;
  const output = ({ components }: Released) => components.schemas.Gift;

  it.each<[string, (document: Released) => unknown]>([
    ['GET /gifts/list: the operation is gone', ({ paths }) => remove(paths, '/gifts/list')],
    ['the response 200 is gone', (document) => remove(create(document).responses, '200')],
    ['the parameter dry_run is gone', (document) => create(document).parameters.shift()],
    [
      'the new parameter account is required',
      (document) =>
        create(document).parameters.push({ name: 'account', required: true, in: 'query' } as never),
    ],
    [
      'Idempotency-Key: maxLength is 512, before unlimited',
      ({ components }) => Object.assign(components.parameters.Key.schema, { maxLength: 512 }),
    ],
    ['name: maxLength is 10, before 20', (document) => (input(document).properties.name.maxLength = 10)],
    ['kind no longer accepts code', (document) => input(document).properties.kind.enum.pop()],
    ['the field notes is no longer accepted', (document) => remove(input(document).properties, 'notes')],
    ['the field kind is now required', (document) => input(document).required.push('kind')],
    [
      'notes.[] no longer accepts string',
      (document) => (input(document).properties.notes.items.type = 'integer'),
    ],
    ['a body is now required', (document) => Object.assign(create(document).requestBody, { required: true })],
    ['the field name is gone', (document) => remove(output(document).properties, 'name')],
    ['the field id can be missing', (document) => output(document).required.pop()],
    ['id can be string', (document) => (output(document).properties.id.type = 'string')],
  ])('refuses that %s', async (line, change) => {
    const [code, text] = await compare(change);
    expect([code, text]).toEqual([1, expect.stringContaining(line)]);
  });

  it.each<[string, (document: Released) => unknown]>([
    ['a new operation', ({ paths }) => Object.assign(paths, { '/new': { get: { responses: {} } } })],
    ['a new optional field', (document) => Object.assign(input(document).properties, { color: {} })],
    ['a new field of the response', (document) => Object.assign(output(document).properties, { color: {} })],
    ['a greater limit', (document) => (input(document).properties.name.maxLength = 30)],
    ['a field that is no longer required', (document) => input(document).required.pop()],
  ])('accepts %s', async (_name, change) => {
    expect(await compare(change)).toEqual([0, expect.stringMatching(/^0 changes/)]);
  });

  it.each([
    ['`GET /gifts/list` is gone.', 0],
    ['`/gifts/*` is gone.', 0],
    ['`POST /gifts/create` is gone.', 1],
    ['/gifts/list without backticks', 1],
  ])('looks for a removed operation among the breaking changes: %s', async (changelog, expected) => {
    const [code] = await compare(({ paths }) => remove(paths, '/gifts/list'), changelog);
    expect(code).toBe(expected);
  });
});
