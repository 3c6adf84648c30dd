import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Request, Response } from 'express';
import { NOT_FOUND } from '../errors/index.js';
import { StaticContent } from '../http/index.js';

const read = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');

/** The properties and elements that all pages of the service share. Other style sheets begin with them. */
export const BASE_STYLES = read('base.css');

const SCRIPT = { 'Content-Type': 'text/javascript; charset=utf-8' };

/** The files that pages load, by their paths. */
const ASSETS: ReadonlyMap<string, StaticContent> = new Map([
  [
    '/pages.css',
    new StaticContent(`${BASE_STYLES}${read('pages.css')}${read('dashboard.css')}`, {
      'Content-Type': 'text/css; charset=utf-8',
    }),
  ],
  [
    '/htmx.js',
    new StaticContent(
      readFileSync(createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js')),
      SCRIPT,
    ),
  ],
  ['/pages.js', new StaticContent(read('pages.mjs'), SCRIPT)],
]);

export const ASSET_PATHS = [...ASSETS.keys()];

/** Sends the file with the path of the request. */
export async function sendAsset(request: Request, response: Response): Promise<void> {
  const content = ASSETS.get(request.path);
  if (!content) throw NOT_FOUND.error();
  await content.send(request, response);
}

/** The scripts of the pages of logged-in users, in the order in which they run. */
export const SCRIPTS = ['/htmx.js', '/pages.js'];
