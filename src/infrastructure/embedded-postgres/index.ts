export { EmbeddedPostgresError } from './embedded-postgres.error.js';
export { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
