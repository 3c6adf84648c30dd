import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { KnownBrowser } from './known-browser.entity.js';

@Injectable()
export class KnownBrowsersRepository {
  constructor(private readonly transaction: Transaction) {}

  async has(digest: Buffer): Promise<boolean> {
    return this.transaction.manager.existsBy(KnownBrowser, { digest });
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
