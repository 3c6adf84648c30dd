import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { NOT_FOUND } from '../errors/index.js';
import { StaticContent } from '../http/index.js';
import { ICON_STYLES } from './parts/icon.js';

const read = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');

/** The properties and elements that all pages of the service share. Other style sheets begin with them. */
export const BASE_STYLES = read('base.css');

const STYLES = { 'Content-Type': 'text/css; charset=utf-8' };
const SCRIPT = { 'Content-Type': 'text/javascript; charset=utf-8' };
const FAVICON = { 'Content-Type': 'image/svg+xml' };
const { resolve } = createRequire(import.meta.url);
const HTMX = resolve('htmx.org/dist/htmx.min.js');
const MORPH = resolve('idiomorph/dist/idiomorph-ext.min.js');

const ASSETS: ReadonlyMap<string, StaticContent> = new Map([
  ['/pages.css', new StaticContent(`${BASE_STYLES}${read('pages.css')}${ICON_STYLES}`, STYLES)],
  ['/favicon.svg', new StaticContent(read('favicon.svg'), FAVICON)],
  ['/htmx.js', new StaticContent(readFileSync(HTMX), SCRIPT)],
  ['/morph.js', new StaticContent(readFileSync(MORPH), SCRIPT)],
  ['/passkeys.js', new StaticContent(read('passkeys.mjs'), SCRIPT)],
  ['/pages.js', new StaticContent(read('pages.mjs'), SCRIPT)],
]);

/** Serves the scripts and styles of the pages. */
@ApiExcludeController()
@Controller()
export class AssetsController {
  @Get([...ASSETS.keys()])
  async asset(@Req() request: Request, @Res() response: Response): Promise<void> {
    await contentOf(request).send(request, response);
  }
}

/** Express also finds the routes of paths in other spellings, such as `/PAGES.CSS`. */
function contentOf({ path }: Request): StaticContent {
  return NOT_FOUND.requireFound(ASSETS.get(path));
}
