import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { run, type Ended } from '../support/programs/program.js';

/* Builds and runs small programs with the scripts of the project, in folders of their own. */

const ROOT = join(import.meta.dirname, '..', '..');
const FILES = [
  '.swcrc',
  'nest-cli.json',
  'package-lock.json',
  ...['build-stamp', 'compile', 'ensure-build', 'hash-of-files'].map((name) => `scripts/${name}.mjs`),
];
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: { dev: string };
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'development-'));
  for (const file of FILES) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  write('package.json', '{ "type": "module" }');
  write('ormconfig.ts', 'export const settings: object = {};\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Builds and runs the program, as `npm start` does. */
function start(): Promise<Ended> {
  write(
    'start.mjs',
    `import './scripts/ensure-build.mjs';
    process.setSourceMapsEnabled(true);
    await import('./dist/src/main.js');`,
  );
  return run(join(folder, 'start.mjs'), { folder });
}

/** A class with metadata for injection, an element and an import, which the compiler must know. */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { Picture } from './parts/picture.js';
  const injected: ClassDecorator = (target) => console.log(Reflect.getMetadata('design:paramtypes', target)[0].name);
  import 'reflect-metadata';
  @injected class User { constructor(readonly since: Date) {} }
  console.log((<Picture />).type.name, readFileSync(new URL('parts/style.css', import.meta.url), 'utf8'));
  throw new Error('at the end');
`;

it('compiles the sources, copies the files that they read, and leaves tests and pages out', async () => {
  write('src/main.tsx', PROGRAM);
  write('src/parts/picture.tsx', 'export const Picture = () => <svg />;\n');
  write('src/parts/picture.spec.ts', 'nonsense of a test');
  write('src/parts/style.css', 'color: red');
  write('src/parts/README.md', 'A page');
  write('dist/src/old.js', '');
  const { output, errors } = await start();
  expect(output).toBe('Date\nPicture color: red\n');
  expect(errors).toMatch(/Error: at the end\n\s+at .*\/src\/main\.tsx:8:\d+\)?\n/);
  const built = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' });
  expect(built.filter((name) => /\.\w+$/.test(name)).toSorted()).toEqual([
    'ormconfig.js',
    'ormconfig.js.map',
    'src/main.js',
    'src/main.js.map',
    'src/parts/picture.js',
    'src/parts/picture.js.map',
    'src/parts/style.css',
  ]);
});

it('shows all lines that cannot be compiled, and starts nothing', async () => {
  write('src/main.ts', 'console.log("started");\nexport const = 1;\n');
  write('src/other.ts', 'export const other: = 1;\n');
  const { code, output, errors } = await start();
  expect([code, output]).toEqual([1, '']);
  expect(errors).toMatch(/main\.ts:2:/);
  expect(errors).toMatch(/other\.ts:1:/);
  expect(existsSync(join(folder, 'dist/.built-from'))).toBe(false);
});

describe('npm run dev', () => {
  let shell: ChildProcess;
  afterEach(async () => {
    const ended = once(shell, 'exit');
    shell.kill();
    await ended;
  });

  it('starts the program again with each change, also after one that cannot be compiled', async () => {
    const program = (name: string): string =>
      `console.log('${name}');\nsetInterval(() => undefined, 1_000);\n`;
    write('src/main.ts', program('first'));
    shell = spawn('sh', ['-c', scripts.dev], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => (text += part));
    const shows = (pattern: RegExp): Promise<true> =>
      eventually(`the output matches ${pattern}`, () => pattern.test(text) || undefined, 20_000);

    await shows(/^first$/m);
    write('src/main.ts', program('second'));
    await shows(/^second$/m);
    write('src/parts/new.ts', 'export const = 1;\n');
    await shows(/new\.ts:1:/);
    write('src/parts/new.ts', `console.log('third');\n`);
    write('src/main.ts', `import './parts/new.js';\n${program('fourth')}`);
    await shows(/^third\nfourth$/m);
  });
});
