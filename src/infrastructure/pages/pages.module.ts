import { Global, Module } from '@nestjs/common';
import { FormTokens } from './form-tokens.js';
import { PageDialect } from './page.dialect.js';
import { PageRenderer } from './page.renderer.js';
import { StylesheetController } from './stylesheet.controller.js';

@Global()
@Module({
  controllers: [StylesheetController],
  providers: [FormTokens, PageRenderer, PageDialect],
  exports: [FormTokens, PageRenderer],
})
export class PagesModule {}
