import { DataSource, getMetadataArgsStorage } from 'typeorm';
import { dataSourceOptions } from './src/infrastructure/database/data-source-options.js';
// Registers all entities.
import './src/app.module.js';

/** For TypeORM's own command line (`npm run typeorm -- migration:show`); the service migrates by itself. */
export default new DataSource({
  ...dataSourceOptions({ url: process.env.DATABASE_URL ?? '', authority: process.env.DATABASE_CA }),
  entities: getMetadataArgsStorage().tables.map(({ target }) => target),
});
