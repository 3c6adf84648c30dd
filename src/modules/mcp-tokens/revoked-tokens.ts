/** An MCP token that was revoked, and the user of the client for whom it was created. */
export interface RevokedMcpToken {
  readonly tokenHash: Buffer;
  readonly clientId: string;
  readonly externalUserId: string;
}

/** Port for what ends with an MCP token. Implementations join the transaction that revokes the token. */
export abstract class RevokedTokens {
  abstract cleanUpAfter(token: RevokedMcpToken): Promise<void>;
}
