export { ApiOperations } from './api-operations.js';
export { DocumentationModule } from './documentation.module.js';
export { readProjectFile } from './site-files.js';
