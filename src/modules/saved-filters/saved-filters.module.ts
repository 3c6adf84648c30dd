import { Module } from '@nestjs/common';
import { SavedFiltersPagesController } from './saved-filters-pages.controller.js';
import { SavedFiltersRepository } from './saved-filters.repository.js';
import { SavedFiltersService } from './saved-filters.service.js';

@Module({
  controllers: [SavedFiltersPagesController],
  providers: [SavedFiltersService, SavedFiltersRepository],
  exports: [SavedFiltersService],
})
export class SavedFiltersModule {}
