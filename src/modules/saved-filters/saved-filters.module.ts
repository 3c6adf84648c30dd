import { Module } from '@nestjs/common';
import { SAVED_FILTER_PAGES } from './saved-filters.pages.js';
import { SavedFiltersRepository } from './saved-filters.repository.js';
import { SavedFiltersService } from './saved-filters.service.js';

/** The filters that users save for the lists of the dashboard. */
@Module({
  controllers: SAVED_FILTER_PAGES,
  providers: [SavedFiltersService, SavedFiltersRepository],
  exports: [SavedFiltersService],
})
export class SavedFiltersModule {}
