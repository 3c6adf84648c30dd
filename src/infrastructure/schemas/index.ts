export { jsonSchemaOf } from './json-schema.js';
export {
  enumeration,
  namedSchema,
  namedSchemas,
  type Enumeration,
  type SchemaReference,
} from './named-schemas.js';
