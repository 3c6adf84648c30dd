import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { StaticContent } from '../http/index.js';

const read = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');

/** The properties and elements that all pages of the service share. Other style sheets begin with them. */
export const BASE_STYLES = read('base.css');

const STYLESHEET = new StaticContent(`${BASE_STYLES}${read('pages.css')}`, {
  'Content-Type': 'text/css; charset=utf-8',
});

@ApiExcludeController()
@Controller()
export class StylesheetController {
  @Get('pages.css')
  stylesheet(@Req() request: Request, @Res() response: Response): Promise<void> {
    return STYLESHEET.send(request, response);
  }
}
