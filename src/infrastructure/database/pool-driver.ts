import pg from 'pg';
import type { DataSource } from 'typeorm';

/** The `driver` of TypeORM's options: `pg`, except that it keeps the pool that TypeORM opens. */
export class PoolDriver {
  pool: pg.Pool | undefined;
  readonly Pool: typeof pg.Pool;

  constructor() {
    const keep = (pool: pg.Pool): void => {
      this.pool = pool;
    };
    this.Pool = class extends pg.Pool {
      constructor(config?: pg.PoolConfig) {
        super(config);
        keep(this);
      }
    };
  }
}

/** Returns the pool of a data source with the options of `dataSourceOptions`, once it has connected. */
export function poolOf({ options }: DataSource): pg.Pool | undefined {
  return options.type === 'postgres' ? (options.driver as PoolDriver).pool : undefined;
}
