import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction } from '../../../infrastructure/database/index.js';
import { KnownBrowser } from './known-browser.entity.js';

/** The browsers in which each user has logged in. `browser` is the value of the browser's cookie. */
@Injectable()
export class KnownBrowsersRepository {
  constructor(private readonly transaction: Transaction) {}

  async knows(userId: string, browser: string): Promise<boolean> {
    return this.transaction.manager.existsBy(KnownBrowser, { digest: digestOf(userId, browser) });
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
  async remember(userId: string, browser: string, loggedInAt: Date): Promise<boolean> {
    const [row] = await this.transaction.manager.query<{ isNew: boolean }[]>(
      `INSERT INTO known_browser (digest, user_id, logged_in_at) VALUES ($1, $2, $3)
       ON CONFLICT (digest) DO UPDATE SET logged_in_at = excluded.logged_in_at
       RETURNING xmax = 0 AS "isNew"`,
      [digestOf(userId, browser), userId, loggedInAt],
    );
    return row?.isNew ?? false;
  }
}

function digestOf(userId: string, browser: string): Buffer {
  return sha256(JSON.stringify([userId, browser]));
}
