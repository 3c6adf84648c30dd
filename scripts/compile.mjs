/*
 * Compiles the sources into `dist`: swc compiles each file as .swcrc says, and nest-cli.json names the files. `nest build` does
 * the same with 194 packages more: docs/decisions/0044-compiling-with-swc.md. ensure-build.mjs runs this.
 */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { transformFile } from '@swc/core';
import { sourcesIn } from './hash-of-files.mjs';

const ROOT = join(import.meta.dirname, '..');
const TARGET = join(ROOT, 'dist');
const {
  sourceRoot,
  compilerOptions: {
    builder: { options },
    assets,
  },
} = JSON.parse(readFileSync(join(ROOT, 'nest-cli.json'), 'utf8'));
/** Patterns such as `**\/*.css`. */
const copied = new Set(assets.map((pattern) => extname(pattern)));

await rm(TARGET, { recursive: true, force: true });
const files = options.filenames.flatMap((name) =>
  name === sourceRoot ? sourcesIn(join(ROOT, name)) : [join(ROOT, name)],
);
const results = await Promise.allSettled(files.map(build));
const failures = results.filter(({ status }) => status === 'rejected');
for (const { reason } of failures) process.stderr.write(`${reason.message}\n`);
if (failures.length > 0) process.exit(1);

async function build(file) {
  const extension = extname(file);
  const target = join(TARGET, relative(ROOT, file));
  if (options.extensions.includes(extension)) await compile(file, target.slice(0, -extension.length) + '.js');
  else if (copied.has(extension)) await cp(file, target);
}

async function compile(file, target) {
  const folder = dirname(target);
  const { code, map } = await transformFile(file, {
    configFile: join(ROOT, '.swcrc'),
    sourceFileName: relative(folder, file),
  });
  await mkdir(folder, { recursive: true });
  await writeFile(target, `${code}\n//# sourceMappingURL=${basename(target)}.map`);
  await writeFile(`${target}.map`, map);
}
