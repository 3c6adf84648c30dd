import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOT_FOUND } from '../../infrastructure/errors/index.js';
import { StaticContent } from '../../infrastructure/http/index.js';
import { projectFolder } from './project-files.js';

const CHECKSUMS = 'SHA256SUMS';

/**
 * Returns a package for integrators, or their checksums. `scripts/ensure-clients.mjs` has packed them.
 *
 * @throws ApiError NOT_FOUND if there is no such file
 */
export function readDownload(name: string): StaticContent {
  const folder = join(projectFolder(), 'clients/dist');
  const isOffered = name === CHECKSUMS || name.endsWith('.tgz');
  if (!isOffered || !existsSync(folder) || !readdirSync(folder).includes(name)) throw NOT_FOUND.error();
  const type = name === CHECKSUMS ? 'text/plain; charset=utf-8' : 'application/gzip';
  return new StaticContent(readFileSync(join(folder, name)), { 'Content-Type': type });
}
