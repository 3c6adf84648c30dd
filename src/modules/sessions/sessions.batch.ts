import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BatchedStatement, prepared } from '../../infrastructure/database/index.js';
import type { Session } from './session.entity.js';

/** The columns that events of a session need. */
export type EventSession = Pick<Session, 'id' | 'clientId' | 'externalUserId' | 'cardId' | 'metadata'>;

const LOOKUPS_PER_STATEMENT = 1_000;
const CONCURRENT_STATEMENTS = 2;

const FIND = prepared(
  `SELECT id, client_id AS "clientId", external_user_id AS "externalUserId", card_id AS "cardId", metadata
     FROM session WHERE id = ANY ($1)`,
);

/**
 * Looks up the sessions of events. Nearly every published event has one, so lookups that arrive together share a
 * statement. It runs outside any open transaction and does not see its changes.
 */
@Injectable()
export class SessionsBatch {
  private readonly lookups = new BatchedStatement<string, EventSession | undefined>({
    execute: (ids) => this.execute(ids),
    maxRows: LOOKUPS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
  });

  constructor(private readonly dataSource: DataSource) {}

  /** @param id a UUID in lowercase */
  find(id: string): Promise<EventSession | undefined> {
    return this.lookups.add(id);
  }

  private async execute(ids: readonly string[]): Promise<(EventSession | undefined)[]> {
    const rows = await this.dataSource.query<EventSession[]>(FIND, [ids]);
    const sessions = new Map(rows.map((session) => [session.id, session]));
    return ids.map((id) => sessions.get(id));
  }
}
