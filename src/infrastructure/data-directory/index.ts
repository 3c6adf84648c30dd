export { checkDataDirectory } from './check-data-directory.js';
export { DataDirectoryModule } from './data-directory.module.js';
