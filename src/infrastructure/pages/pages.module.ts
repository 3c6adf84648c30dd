import { Global, Module } from '@nestjs/common';
import { FormTokens } from './form-tokens.js';
import { PageErrorFormat } from './page-error-format.js';
import { PageRenderer } from './page.renderer.js';
import { StylesheetController } from './stylesheet.controller.js';

@Global()
@Module({
  controllers: [StylesheetController],
  providers: [FormTokens, PageRenderer, PageErrorFormat],
  exports: [FormTokens, PageRenderer],
})
export class PagesModule {}
