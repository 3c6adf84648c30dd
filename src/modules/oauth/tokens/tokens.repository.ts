import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { RevokedAccessToken, TokenSigningKey } from './tokens.entity.js';

@Injectable()
export class TokensRepository {
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

  /** Locks the keys against concurrent changes until the transaction ends. @returns all keys, newest first */
  async lockKeys(): Promise<TokenSigningKey[]> {
    await this.transaction.manager.query('LOCK TABLE token_signing_key IN SHARE ROW EXCLUSIVE MODE');
    return this.keys();
  }

  /** Returns all keys, newest first. */
  async keys(): Promise<TokenSigningKey[]> {
    return this.transaction.manager.find(TokenSigningKey, { order: { signsFrom: 'DESC' } });
  }

  async addKey(key: TokenSigningKey): Promise<void> {
    await this.transaction.manager.insert(TokenSigningKey, key);
  }

  async deleteKey(kid: string): Promise<void> {
    await this.transaction.manager.delete(TokenSigningKey, { kid });
  }
}
