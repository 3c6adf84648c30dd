import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolPath } from '../support/programs/tools.js';

/*
 * Runs generators that npm installs, as docs/generated-clients.md shows them, without patches. The page says how the
 * generators of other languages were run.
 */

const ROOT = join(import.meta.dirname, '..', '..');
const DOCUMENT = join(ROOT, 'openapi.json');
const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as {
  tags: { name: string }[];
  paths: Record<string, Record<string, { parameters?: object[] }>>;
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'generated-clients-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});

/** Runs a program. @returns what it prints */
function run(program: string, ...parameters: string[]): string {
  return execFileSync(process.execPath, [program, ...parameters], {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

/** Type-checks files strictly, including those that they import. @returns the problems */
function problemsOf(files: Readonly<Record<string, string>>, ...options: string[]): string {
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
  const always = ['--noEmit', '--strict', '--target', 'es2022', '--types', ''];
  try {
    return run(
      join(ROOT, 'node_modules/@typescript/native/bin/tsc'),
      ...always,
      ...options,
      ...Object.keys(files),
    );
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const MODULES = [
  ['nodenext', ['--module', 'nodenext']],
  ['esnext', ['--module', 'esnext', '--moduleResolution', 'bundler']],
] as const;

describe('openapi-typescript', () => {
  beforeAll(() => run(toolPath('openapi-typescript', 'bin/cli.js'), DOCUMENT, '-o', 'schema.d.ts'));

  it('generates types with which a minimal request compiles', () => {
    const code = `
      import type { components, operations, paths } from './schema.js';
      type Body<Path extends keyof paths> = paths[Path] extends
        { post: { requestBody?: { content: { 'application/json': infer Json } } } } ? Json : never;
      export const token: Body<'/mcp/tokens/create'> = { external_user_id: 'user-8f3a' };
      export const tested: Body<'/webhook-endpoints/{id}/test'> = {};
      export const query: operations['listRequestLogs']['parameters']['query'] = { environment: 'development' };
      export const environment: components['schemas']['Environment'] = 'production';
      export function cardOf(event: components['schemas']['WebhookEvent']): string | null | undefined {
        return event.event === 'AUTHENTICATED' ? event.data.card_id : undefined;
      }
      // @ts-expect-error: the field is required
      export const incomplete: Body<'/mcp/tokens/create'> = {};`;
    expect(problemsOf({ 'types.ts': code }, '--module', 'nodenext')).toBe('');
  });
});

describe('@hey-api/openapi-ts', () => {
  it.each(MODULES)('generates a client that compiles with the module option %s', (module, options) => {
    const output = `client-${module}`;
    mkdirSync(join(folder, output));
    // The generator looks for this file to find out which kind of imports to write.
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { module } }));
    const settings = {
      input: DOCUMENT,
      output: { path: output, tsConfigPath: join(folder, 'tsconfig.json') },
    };
    writeFileSync(join(folder, 'openapi-ts.config.mjs'), `export default ${JSON.stringify(settings)};`);
    expect(run(toolPath('@hey-api/openapi-ts', 'bin/run.js'))).not.toMatch(/warn|error|unresolvable/i);
    rmSync(join(folder, 'tsconfig.json'));
    const code = `
      import { createMcpToken, listRequestLogs } from './${output}/index.js';
      export const created = await createMcpToken({ body: { external_user_id: 'user-8f3a' } });
      export const token: string | undefined = created.data?.token;
      export const logs = await listRequestLogs({ query: { environment: 'development' } });`;
    expect(problemsOf({ 'use.ts': code }, '--lib', 'es2022,dom,dom.iterable', ...options)).toBe('');
  });
});

const page = readFileSync(join(ROOT, 'docs/generated-clients.md'), 'utf8');

/** Returns the program of the page in a language. @param mark tells the programs of one language apart */
function programOf(language: string, mark = ''): string {
  const programs = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code = '']) => code,
  );
  return programs.find((code) => code.includes(mark)) ?? '';
}

/** Returns how many parameters an operation has besides the body. */
function parametersOf(path: string, method: string): number {
  const { parameters = [] } = document.paths[path]?.[method] ?? {};
  return parameters.length;
}

/** Returns the arguments of the first call of a function. */
function argumentsIn(code: string, name: string): string[] {
  const start = code.indexOf(`${name}(`) + name.length + 1;
  const found = [''];
  for (let [index, depth] = [start, 0]; depth >= 0; index += 1) {
    const character = code[index] ?? ')'.repeat(2);
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    if (character === ',' && depth === 0) found.push('');
    else if (depth >= 0) found[found.length - 1] += character;
  }
  return found.map((each) => each.trim()).filter((each) => each !== '');
}

// With the generated clients, these programs were compiled by hand. Their calls change when operations get parameters.
describe('The programs of docs/generated-clients.md', () => {
  it('compile in TypeScript with the generated client', () => {
    const code = `declare const process: { env: Record<string, string | undefined> };\n${programOf('ts')}`;
    const files = { 'page.ts': code.replace('./client/', './client-nodenext/') };
    expect(problemsOf(files, '--lib', 'es2022,dom,dom.iterable', '--module', 'nodenext')).toBe('');
  });

  it('call the operations in Java with an argument for each parameter', () => {
    const java = programOf('java');
    expect(argumentsIn(java, '.createMcpToken')).toHaveLength(1 + parametersOf('/mcp/tokens/create', 'post'));
    expect(argumentsIn(java, '.listRequestLogs')).toHaveLength(parametersOf('/request-logs', 'get'));
  });

  it('call the operations in Go with parameters where there are some', () => {
    expect(parametersOf('/mcp/tokens/create', 'post')).toBeGreaterThan(0);
    const [oapi, ogen] = [programOf('go', 'WithResponse'), programOf('go', 'ogenerrors')];
    expect(argumentsIn(oapi, '.CreateMcpTokenWithResponse')[1]).toBe('&api.CreateMcpTokenParams{}');
    expect(argumentsIn(ogen, '.CreateMcpToken')[2]).toBe('api.CreateMcpTokenParams{}');
  });
});

const POSTMAN = toolPath('openapi-to-postmanv2', 'bin/openapi2postmanv2.js');

describe('openapi-to-postmanv2', () => {
  it('converts the document as the page says: a folder for each topic, no warnings, requests that work as they are', () => {
    const [, options = ''] = /-O (\S+)/.exec(page) ?? [];
    const file = join(folder, 'collection.json');
    const parameters = [POSTMAN, '-s', DOCUMENT, '-o', file, '-O', options];
    const { status, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    const { item: folders } = JSON.parse(readFileSync(file, 'utf8')) as { item: PostmanItem[] };
    expect(folders.map(({ name }) => name)).toEqual(document.tags.map(({ name }) => name));
    expect(folders.filter(({ item }) => !item?.length)).toEqual([]);
    const requests = new Map<string, PostmanRequest>();
    const visit = ({ name, item, request }: PostmanItem): void => {
      if (request) requests.set(name, request);
      for (const each of item ?? []) visit(each);
    };
    for (const each of folders) visit(each);
    const token = requests.get('Create MCP token');
    expect(JSON.parse(token?.body?.raw ?? '')).toMatchObject({
      external_user_id: 'user-8f3a',
      expires_in: 3600,
    });
    const enabled = (parts: readonly PostmanPart[] = []): string[] =>
      parts.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
    expect(enabled(token?.header)).toEqual(['Content-Type=application/json', 'Accept=application/json']);
    expect(enabled(requests.get('List request logs')?.url.query)).toEqual(['environment=development']);
  });
});

interface PostmanPart {
  readonly key: string;
  readonly value: string;
  readonly disabled?: boolean;
}

interface PostmanRequest {
  readonly body?: { readonly raw: string };
  readonly header?: readonly PostmanPart[];
  readonly url: { readonly query?: readonly PostmanPart[] };
}

interface PostmanItem {
  readonly name: string;
  readonly item?: readonly PostmanItem[];
  readonly request?: PostmanRequest;
}
