export { ApiOperations } from './api-operations.js';
export { DocumentationModule } from './documentation.module.js';
