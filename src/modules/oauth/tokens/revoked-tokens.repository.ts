import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { RevokedAccessToken } from './tokens.entity.js';

@Injectable()
export class RevokedTokensRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Records a revocation. Does nothing if the token is already revoked. */
  async revoke(token: RevokedAccessToken): Promise<void> {
    const { manager } = this.transaction;
    await manager.createQueryBuilder().insert().into(RevokedAccessToken).values(token).orIgnore().execute();
  }

  /** Plain SQL, because it runs for every request with an access token. */
  async isRevoked(jti: string): Promise<boolean> {
    const { manager } = this.transaction;
    const rows = await manager.query<unknown[]>('SELECT FROM revoked_access_token WHERE jti = $1', [jti]);
    return rows.length > 0;
  }
}
