import { Global, Module } from '@nestjs/common';
import { AssetsController } from './assets.controller.js';
import { FormTokens } from './form-tokens.js';
import { PageEnvironments, PageRenderer } from './page.renderer.js';

@Global()
@Module({
  controllers: [AssetsController],
  providers: [FormTokens, PageEnvironments, PageRenderer],
  exports: [FormTokens, PageEnvironments, PageRenderer],
})
export class PagesModule {}
