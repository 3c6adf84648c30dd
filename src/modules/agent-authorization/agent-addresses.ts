import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../infrastructure/http/index.js';

/** The public URLs of the address at which the agents of one API client log in. Each API client is an issuer of its own. */
@Injectable()
export class AgentAddresses {
  constructor(private readonly address: PublicAddress) {}

  /** Returns the MCP endpoint, which is also the identifier of the resource (RFC 8707). */
  resourceOf(clientId: string): string {
    return `${this.origin}/mcp/${clientId}`;
  }

  /** Returns the identifier of the authorization server (RFC 8414, section 2). Its endpoints begin with it. */
  issuerOf(clientId: string): string {
    return `${this.origin}/connections/${clientId}`;
  }

  /** RFC 9728, section 3.1. */
  metadataUrlOf(clientId: string): string {
    return `${this.origin}/.well-known/oauth-protected-resource/mcp/${clientId}`;
  }

  /** Returns the URL of the page on which the user of an authorization continues. */
  pageOf(clientId: string, authorizationId: string): string {
    return `${this.origin}${pagePathOf(clientId, authorizationId)}`;
  }

  private get origin(): string {
    return this.address.of('connector');
  }
}

export function pagePathOf(clientId: string, authorizationId: string): string {
  return `/connections/${clientId}/authorizations/${authorizationId}`;
}
