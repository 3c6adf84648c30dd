import { Global, Module } from '@nestjs/common';
import { AssetsController } from './assets.controller.js';
import { FilteredLists } from './filtered-lists.js';
import { FormTokens } from './form-tokens.js';
import { PageEnvironments, PageRenderer } from './page.renderer.js';
import { TimeZoneController } from './time-zone.controller.js';

@Global()
@Module({
  controllers: [AssetsController, TimeZoneController],
  providers: [FilteredLists, FormTokens, PageEnvironments, PageRenderer],
  exports: [FilteredLists, FormTokens, PageEnvironments, PageRenderer],
})
export class PagesModule {}
