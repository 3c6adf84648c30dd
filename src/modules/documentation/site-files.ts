import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { NOT_FOUND } from '../../infrastructure/errors/index.js';
import { StaticContent } from '../../infrastructure/http/index.js';
import { projectFolder } from '../../infrastructure/project-files/index.js';
import { BASE_STYLES } from '../../infrastructure/pages/index.js';

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
export function readSiteAsset(name: string): StaticContent {
  const read = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (!read) throw NOT_FOUND.error();
  return new StaticContent(read(), { 'Content-Type': TYPES[extname(name)] ?? '' });
}

const CHECKSUMS = 'SHA256SUMS';

/** Returns the names of the packages for integrators, with their checksums. `scripts/ensure-clients.mjs` has packed them. */
export function downloads(): { readonly name: string; readonly checksum: string }[] {
  const file = join(projectFolder(), 'clients/dist', CHECKSUMS);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => line.split('  ')).map(([checksum = '', name = '']) => ({ name, checksum }));
}

/**
 * Returns a package for integrators, or the file with the checksums.
 *
 * @throws ApiError NOT_FOUND if there is no such file
 */
export function readDownload(name: string): StaticContent {
  const isOffered = name === CHECKSUMS || downloads().some((each) => each.name === name);
  const file = join(projectFolder(), 'clients/dist', name);
  if (!isOffered || !existsSync(file)) throw NOT_FOUND.error();
  const type = name === CHECKSUMS ? 'text/plain; charset=utf-8' : 'application/gzip';
  return new StaticContent(readFileSync(file), { 'Content-Type': type });
}
