import { Global, Module } from '@nestjs/common';
import { AssetsController } from './assets.controller.js';
import { FilteredLists } from './filtered-lists.js';
import { FormTokens } from './form-tokens.js';
import { UnknownPages } from './page-exception.filter.js';
import { PageEnvironments, PageRenderer } from './page.renderer.js';
import { RecentLogins } from './recent-logins.js';
import { SubmittedFormsRepository } from './submitted-forms.repository.js';
import { SubmittedForms } from './submitted-forms.js';
import { TimeZonePage } from './time-zone.pages.js';

@Global()
@Module({
  controllers: [AssetsController, TimeZonePage],
  providers: [
    FilteredLists,
    FormTokens,
    PageEnvironments,
    PageRenderer,
    RecentLogins,
    SubmittedForms,
    SubmittedFormsRepository,
    UnknownPages,
  ],
  exports: [FilteredLists, FormTokens, PageEnvironments, PageRenderer, SubmittedForms, UnknownPages],
})
export class PagesModule {}
