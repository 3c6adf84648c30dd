import { Injectable } from '@nestjs/common';
import { parsedUrl } from '../../infrastructure/config/index.js';
import { PublicAddress } from '../../infrastructure/http/index.js';
import { dashboardPath } from '../../infrastructure/pages/index.js';

/** The public URLs of the address at which the agents of one API client log in. Each API client is an issuer of its own. */
@Injectable()
export class AgentAddresses {
  constructor(private readonly address: PublicAddress) {}

  /** Returns the MCP endpoint, which is also the identifier of the resource (RFC 8707). */
  resourceOf(clientId: string): string {
    return `${this.origin}/mcp/${clientId}`;
  }

  /**
   * Returns whether a text names the MCP endpoint: the identifier, or one that leads to the same place (RFC 3986, section 6). The path
   * contains a UUID, which may be in capitals. Agents also send the query of the address that their user entered, which this service
   * ignores.
   */
  isResourceOf(clientId: string, text: string): boolean {
    const url = parsedUrl(text);
    if (!url || text.includes('#')) return false;
    return (
      `${url.origin}${url.pathname}`.toLowerCase().replace(/\/$/, '') ===
      this.resourceOf(clientId).toLowerCase()
    );
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

  /** Returns the page of the dashboard where members log in as a user of the sandbox, if there is a dashboard. */
  sandboxLoginOf(authorizationId: string): string | null {
    const dashboard = this.address.find('dashboard');
    return dashboard === undefined
      ? null
      : `${dashboard}${dashboardPath('development', 'agents')}/log-in?authorization_id=${authorizationId}`;
  }

  private get origin(): string {
    return this.address.of('connector');
  }
}

export function pagePathOf(clientId: string, authorizationId: string): string {
  return `/connections/${clientId}/authorizations/${authorizationId}`;
}
