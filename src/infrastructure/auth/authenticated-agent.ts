import type { Request } from 'express';
import type { AttributedClient } from '../http/index.js';

/** An agent that acts for one user, as its MCP token says. */
export interface AuthenticatedAgent {
  /** Identifies the token in rate limits. */
  readonly tokenId: string;
  /** SHA-256. */
  readonly tokenHash: Buffer;
  readonly client: AttributedClient;
  readonly organizationId: string;
  readonly externalUserId: string;
  /** E.164; the user's, if the client gave one. Decrypted when it is read. */
  readonly phoneNumber: string | undefined;
  /** When the token expires. */
  readonly expiresAt: Date;
}

/** Returns the authenticated agent. Call it only on routes that `McpTokenGuard` protects. */
export function currentAgentOf(request: Request): AuthenticatedAgent {
  return request.user as AuthenticatedAgent;
}
