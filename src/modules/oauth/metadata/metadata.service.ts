import { Injectable } from '@nestjs/common';
import { SCOPES } from '../../../infrastructure/auth/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { DEVICE_CODE_GRANT } from '../tokens/device-code-exchange.js';
import { TokenSigningKeys } from '../tokens/token-signing-keys.js';
import type { AuthorizationServerMetadata, JsonWebKeySet, PublicJwk } from './metadata.dto.js';

/** What clients and resource servers have to know, for them to find out by themselves. */
@Injectable()
export class MetadataService {
  constructor(
    private readonly address: PublicAddress,
    private readonly keys: TokenSigningKeys,
  ) {}

  /** RFC 8414, section 2. */
  authorizationServer(): AuthorizationServerMetadata {
    const issuer = this.address.of('dashboard');
    return {
      issuer,
      device_authorization_endpoint: `${issuer}/oauth/device/code`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      grant_types_supported: [DEVICE_CODE_GRANT],
      response_types_supported: [],
      scopes_supported: SCOPES,
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    };
  }

  /** Always as the database has them: a new key must be seen here first. */
  async jwks(): Promise<JsonWebKeySet> {
    const keys = await this.keys.published();
    return { keys: keys.map(({ publicJwk }) => publicJwk as PublicJwk) };
  }
}
