import { Injectable } from '@nestjs/common';
import { presentProcesses, Transaction, Transactional } from '../../../infrastructure/database/index.js';

/** Kind of the `Presence` of processes that have listeners. */
export const LISTENERS_LOCK = 1_279_873_876;

/** One open stream, and the process that serves it. */
export interface StoredListener {
  readonly id: string;
  readonly clientId: string;
  readonly process: number;
}

/**
 * The listeners of all processes: they count toward the limit of their client, and publishing notifies only clients that have
 * one.
 */
@Injectable()
export class ListenersRepository {
  constructor(private readonly transaction: Transaction) {}

  /**
   * Adds a listener, unless the client has the maximum. Listeners of processes that have ended do not count and are deleted.
   *
   * @returns whether the listener was added
   */
  @Transactional()
  async add({ id, clientId, process }: StoredListener, max: number): Promise<boolean> {
    const { manager } = this.transaction;
    await this.transaction.lock(`webhook-listeners ${clientId}`);
    await manager.query(
      `DELETE FROM webhook_listener
        WHERE client_id = $1 AND process NOT IN (${presentProcesses(LISTENERS_LOCK)})`,
      [clientId],
    );
    const added = await manager.query<object[]>(
      `INSERT INTO webhook_listener (id, client_id, process)
       SELECT $1, $2, $3 WHERE (SELECT count(*) FROM webhook_listener WHERE client_id = $2) < $4
       RETURNING id`,
      [id, clientId, process, max],
    );
    return added.length > 0;
  }

  async delete(id: string): Promise<void> {
    await this.transaction.manager.query('DELETE FROM webhook_listener WHERE id = $1', [id]);
  }
}
