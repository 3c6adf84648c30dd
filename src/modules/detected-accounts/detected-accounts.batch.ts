import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BatchedStatement, prepared } from '../../infrastructure/database/index.js';

interface Lookup {
  readonly clientId: string;
  readonly externalUserId: string;
  readonly matchKeys: readonly string[];
}

const LOOKUPS_PER_STATEMENT = 50;
const CONCURRENT_STATEMENTS = 4;

/**
 * Finds the accounts of each user ($1, $2) at the merchants of all match keys ($3) in the batch. A row can be about a key that was
 * only requested for another user; the caller looks up its own keys.
 */
const FIND = prepared(
  `SELECT lookup.position, merchant_name.match_key AS "matchKey", account.detected_at AS "detectedAt"
     FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS lookup (client_id, external_user_id, position)
     CROSS JOIN merchant_name
     JOIN detected_account account USING (client_id, external_user_id, merchant_id)
    WHERE merchant_name.match_key = ANY ($3)`,
);

/**
 * Finds the detected accounts for concurrent requests in one statement, which runs outside any open transaction
 * (docs/decisions/0002-batched-statements.md).
 */
@Injectable()
export class DetectedAccountsBatch {
  /** Returns the times at which the user's accounts were detected, by match key. Keys without an account are absent. */
  readonly lookups = new BatchedStatement<Lookup, ReadonlyMap<string, Date>>({
    execute: (lookups) => this.select(lookups),
    maxRows: LOOKUPS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
    isRepeatable: true,
  });

  constructor(private readonly dataSource: DataSource) {}

  private async select(lookups: readonly Lookup[]): Promise<ReadonlyMap<string, Date>[]> {
    const rows = await this.dataSource.query<{ position: string; matchKey: string; detectedAt: Date }[]>(
      FIND,
      [
        lookups.map(({ clientId }) => clientId),
        lookups.map(({ externalUserId }) => externalUserId),
        [...new Set(lookups.flatMap(({ matchKeys }) => matchKeys))],
      ],
    );
    const found = lookups.map(() => new Map<string, Date>());
    for (const { position, matchKey, detectedAt } of rows)
      found[Number(position) - 1]?.set(matchKey, detectedAt);
    return found;
  }
}
