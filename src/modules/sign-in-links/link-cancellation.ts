import { Injectable } from '@nestjs/common';
import { Clock } from '../../infrastructure/time/index.js';
import { McpTokenRevocationListener, type RevokedMcpToken } from '../mcp-tokens/index.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';

/** Cancels the pending links that an agent created with a token, when the token is revoked. */
@Injectable()
export class LinkCancellation extends McpTokenRevocationListener {
  constructor(
    private readonly repository: SignInLinksRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async onRevoked({ tokenHash, ...user }: RevokedMcpToken): Promise<void> {
    await this.repository.cancelByMcpToken(user, tokenHash, this.clock.now());
  }
}
