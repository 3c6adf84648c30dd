import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Checks whether the database can serve requests. */
@Injectable()
export class DatabaseProbe {
  constructor(private readonly dataSource: DataSource) {}

  /** @throws an error if the database does not respond, or accepts no writes, as after a failover */
  async acceptsWrites(): Promise<void> {
    const [{ isReadOnly }] = await this.dataSource.query<[{ isReadOnly: boolean }]>(
      `SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly"`,
    );
    if (isReadOnly) throw new Error('The database is read-only');
  }
}
