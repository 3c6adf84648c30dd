import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

const STYLESHEET = readFileSync(join(import.meta.dirname, 'pages.css'), 'utf8');

@ApiExcludeController()
@Controller()
export class StylesheetController {
  @Get('pages.css')
  @Header('Content-Type', 'text/css; charset=utf-8')
  @Header('Cache-Control', 'public, max-age=300')
  stylesheet(): string {
    return STYLESHEET;
  }
}
