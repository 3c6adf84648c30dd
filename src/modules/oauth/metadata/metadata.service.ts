import { Injectable } from '@nestjs/common';
import { SCOPES } from '../../../infrastructure/auth/index.js';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { DEVICE_CODE_GRANT } from '../tokens/tokens.dto.js';
import { TokenSigningKeysService } from '../tokens/token-signing-keys.service.js';
import type { AuthorizationServerMetadata, JsonWebKeySet, PublicJwk } from './metadata.dto.js';

/** Publishes what clients and resource servers need to discover. */
@Injectable()
export class MetadataService {
  constructor(
    private readonly address: PublicAddress,
    private readonly keys: TokenSigningKeysService,
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

  /** Reads the keys from the database, so that a new key is published before any process signs with it. */
  async jwks(): Promise<JsonWebKeySet> {
    const keys = await this.keys.published();
    return { keys: keys.map(({ publicJwk }) => publicJwk as PublicJwk) };
  }
}
