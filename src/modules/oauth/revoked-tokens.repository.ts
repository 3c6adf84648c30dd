import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { RevokedAccessToken } from './revoked-access-token.entity.js';

@Injectable()
export class RevokedTokensRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Records a revocation. Does nothing if the token is already revoked. @returns whether it was not */
  async revoke(token: RevokedAccessToken): Promise<boolean> {
    const insert = this.transaction.manager.createQueryBuilder().insert().into(RevokedAccessToken);
    const { raw } = await insert.values(token).orIgnore().returning('jti').execute();
    return (raw as unknown[]).length === 1;
  }

  /** Plain SQL, because it runs for every request with an access token. */
  async isRevoked(jti: string): Promise<boolean> {
    const { manager } = this.transaction;
    const rows = await manager.query<unknown[]>('SELECT FROM revoked_access_token WHERE jti = $1', [jti]);
    return rows.length > 0;
  }
}
