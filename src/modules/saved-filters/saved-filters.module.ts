import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SavedFilter } from './saved-filter.entity.js';
import { SAVED_FILTER_PAGES } from './saved-filters.pages.js';
import { SavedFiltersRepository } from './saved-filters.repository.js';
import { SavedFiltersService } from './saved-filters.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([SavedFilter])],
  controllers: SAVED_FILTER_PAGES,
  providers: [SavedFiltersService, SavedFiltersRepository],
  exports: [SavedFiltersService],
})
export class SavedFiltersModule {}
