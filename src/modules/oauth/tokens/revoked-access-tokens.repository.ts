import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { RevokedAccessToken } from './revoked-access-token.entity.js';

@Injectable()
export class RevokedAccessTokensRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Once is enough. */
  async add(token: RevokedAccessToken): Promise<void> {
    const { manager } = this.transaction;
    await manager.createQueryBuilder().insert().into(RevokedAccessToken).values(token).orIgnore().execute();
  }

  /** Asked for every call of the dashboard's operations, so the statement is not built anew each time. */
  async has(jti: string): Promise<boolean> {
    const { manager } = this.transaction;
    const rows = await manager.query<unknown[]>('SELECT FROM revoked_access_token WHERE jti = $1', [jti]);
    return rows.length > 0;
  }
}
