import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import type { AuthenticatedAgent } from './authenticated-agent.js';

/** Port: verifies MCP tokens. */
export abstract class McpTokenVerifier {
  /** @returns undefined when the token is unknown or revoked, or belongs to an environment that is not served here */
  abstract verify(token: string): Promise<AuthenticatedAgent | 'expired' | undefined>;
}

/** Verifies the MCP token that `McpTokenGuard` has read from the header. */
@Injectable()
export class McpTokenStrategy extends PassportStrategy(PassportBearerStrategy, 'mcp-token') {
  constructor(private readonly verifier: McpTokenVerifier) {
    super();
  }

  validate(token: string): Promise<AuthenticatedAgent | 'expired' | undefined> {
    return this.verifier.verify(token);
  }
}
