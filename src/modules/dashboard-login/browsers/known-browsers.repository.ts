import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { KnownBrowser } from './known-browser.entity.js';

@Injectable()
export class KnownBrowsersRepository {
  constructor(private readonly transaction: Transaction) {}

  async has(digest: Buffer): Promise<boolean> {
    return this.transaction.manager.existsBy(KnownBrowser, { digest });
  }

  /** Returns when each of the users last logged in. Users without a known browser are absent. */
  async lastLogins(userIds: readonly string[]): Promise<Map<string, Date>> {
    const rows = await this.transaction.manager.query<{ userId: string; loggedInAt: Date }[]>(
      `SELECT user_id AS "userId", max(logged_in_at) AS "loggedInAt" FROM known_browser
        WHERE user_id = ANY ($1) GROUP BY user_id`,
      [userIds],
    );
    return new Map(rows.map(({ userId, loggedInAt }) => [userId, loggedInAt]));
  }

  /** @returns whether the browser was unknown; true for only one of several concurrent calls */
  async add({ digest, userId, loggedInAt }: KnownBrowser): Promise<boolean> {
    const [row] = await this.transaction.manager.query<{ isNew: boolean }[]>(
      `INSERT INTO known_browser (digest, user_id, logged_in_at) VALUES ($1, $2, $3)
       ON CONFLICT (digest) DO UPDATE SET logged_in_at = excluded.logged_in_at
       RETURNING xmax = 0 AS "isNew"`,
      [digest, userId, loggedInAt],
    );
    return row?.isNew ?? false;
  }
}
