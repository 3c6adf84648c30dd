export {
  enumeration,
  jsonSchemaOf,
  namedSchema,
  namedSchemas,
  type Enumeration,
  type SchemaReference,
} from './json-schema.js';
