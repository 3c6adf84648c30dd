import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SavedFilter } from './saved-filter.entity.js';
import { SavedFiltersPagesController } from './saved-filters-pages.controller.js';
import { SavedFiltersRepository } from './saved-filters.repository.js';
import { SavedFiltersService } from './saved-filters.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([SavedFilter])],
  controllers: [SavedFiltersPagesController],
  providers: [SavedFiltersService, SavedFiltersRepository],
  exports: [SavedFiltersService],
})
export class SavedFiltersModule {}
