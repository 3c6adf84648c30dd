import { Upgrade1790000000090 } from './1790000000090-upgrade.js';

/**
 * The migrations of a database of the last release, oldest first. Never edit one that has landed, released or not. A new database
 * runs `docs/schema.sql` instead, and then the migrations that the file does not contain yet.
 */
export const MIGRATIONS = [
  // 0.4.0
  Upgrade1790000000090,
];
