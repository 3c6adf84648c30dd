export { hasCluster } from './cluster.js';
export * from './embedded-postgres.error.js';
export * from './embedded-postgres.js';
