import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';

/** Generates task IDs: unique, with gaps. */
@Injectable()
export class TaskIdsRepository {
  constructor(private readonly transaction: Transaction) {}

  async next(): Promise<number> {
    const [row] = await this.transaction.manager.query<[{ id: string }]>(
      "SELECT nextval('task_id_seq') AS id",
    );
    return Number(row.id);
  }
}
