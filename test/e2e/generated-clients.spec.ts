import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/*
 * Runs generators that npm installs, as docs/generated-clients.md shows them, without patches. The page says how the
 * generators of other languages were run.
 */

const ROOT = join(import.meta.dirname, '..', '..');
const DOCUMENT = join(ROOT, 'openapi.json');
const require = createRequire(import.meta.url);
const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as { tags: { name: string }[] };

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'generated-clients-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program of a package. @returns what it prints */
function run(name: string, program: string, ...parameters: string[]): string {
  const file = join(dirname(require.resolve(`${name}/package.json`)), program);
  return execFileSync(process.execPath, [file, ...parameters], {
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
    return run('@typescript/native', 'bin/tsc', ...always, ...options, ...Object.keys(files));
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const MODULES = [
  ['nodenext', ['--module', 'nodenext']],
  ['esnext', ['--module', 'esnext', '--moduleResolution', 'bundler']],
] as const;

describe('openapi-typescript', () => {
  beforeAll(() => run('openapi-typescript', 'bin/cli.js', DOCUMENT, '-o', 'schema.d.ts'));

  it('generates types with which a minimal request compiles', () => {
    const code = `
      import type { components, operations, paths } from './schema.js';
      type Body<Path extends keyof paths> = paths[Path] extends
        { post: { requestBody?: { content: { 'application/json': infer Json } } } } ? Json : never;
      export const token: Body<'/mcp/tokens/create'> = { external_user_id: 'user-8f3a' };
      export const rotation: Body<'/api-clients/{client_id}/secret/rotate'> = {};
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
    expect(run('@hey-api/openapi-ts', 'bin/run.js')).not.toMatch(/warn|error|unresolvable/i);
    rmSync(join(folder, 'tsconfig.json'));
    const code = `
      import { createMcpToken, listRequestLogs } from './${output}/index.js';
      export const created = await createMcpToken({ body: { external_user_id: 'user-8f3a' } });
      export const token: string | undefined = created.data?.token;
      export const logs = await listRequestLogs({ query: { environment: 'development' } });`;
    expect(problemsOf({ 'use.ts': code }, '--lib', 'es2022,dom,dom.iterable', ...options)).toBe('');
  });
});

describe('openapi-to-postmanv2', () => {
  it('converts the document to one folder for each topic, without warnings', async () => {
    const { convert } = require('openapi-to-postmanv2') as {
      convert: (input: object, options: object, done: (error: unknown, result: Conversion) => void) => void;
    };
    const warnings: unknown[] = [];
    const { warn } = console;
    console.warn = (...values) => void warnings.push(values);
    const result = await new Promise<Conversion>((resolve, reject) => {
      const input = { type: 'json', data: structuredClone(document) };
      convert(input, { folderStrategy: 'Tags' }, (error, converted) =>
        error ? reject(error as Error) : resolve(converted),
      );
    });
    console.warn = warn;
    expect([result.result, result.reason, warnings]).toEqual([true, undefined, []]);
    const folders = result.output[0]?.data.item ?? [];
    expect(folders.map(({ name }) => name)).toEqual(document.tags.map(({ name }) => name));
    expect(folders.filter(({ item }) => !item?.length)).toEqual([]);
  });
});

interface Conversion {
  readonly result: boolean;
  readonly reason?: string;
  readonly output: readonly {
    readonly data: { readonly item: readonly { readonly name: string; readonly item?: readonly object[] }[] };
  }[];
}
