export { enumeration, type Enumeration } from './enumeration.js';
export { namedSchema, namedSchemas, type SchemaReference } from './named-schemas.js';
