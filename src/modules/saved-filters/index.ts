export { SavedFiltersModule } from './saved-filters.module.js';
export { SavedFiltersService } from './saved-filters.service.js';
