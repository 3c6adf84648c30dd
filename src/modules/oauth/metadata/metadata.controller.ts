import { Controller, Get, Header } from '@nestjs/common';
import { SCOPES } from '../../../infrastructure/auth/index.js';
import { HiddenFromAgentsGuard, PublicAddress } from '../../../infrastructure/http/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { OAuthMetadata } from '../protocol/oauth-operation.js';
import { JWKS_CACHED_FOR, TokenSigningKeysService } from '../tokens/token-signing-keys.service.js';
import { DEVICE_CODE_GRANT } from '../tokens/tokens.dto.js';
import {
  AuthorizationServerMetadata,
  GET_KEYS,
  GET_METADATA,
  JsonWebKeySet,
  type PublicJwk,
} from './metadata.dto.js';

const CACHE_CONTROL = `public, max-age=${JWKS_CACHED_FOR / SECOND}`;

@Topic('Token management')
@Controller('.well-known')
export class MetadataController {
  constructor(
    private readonly address: PublicAddress,
    private readonly keys: TokenSigningKeysService,
  ) {}

  @Get('oauth-authorization-server')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_METADATA, { guards: [HiddenFromAgentsGuard] })
  authorizationServer(): AuthorizationServerMetadata {
    return metadataOf(this.address.of('dashboard'));
  }

  /** Reads the keys from the database, so that a new key is published before any process signs with it. */
  @Get('jwks.json')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_KEYS)
  async jwks(): Promise<JsonWebKeySet> {
    return { keys: (await this.keys.published()).map(({ publicJwk }) => publicJwk as PublicJwk) };
  }
}

/** RFC 8414, section 2. */
function metadataOf(issuer: string): AuthorizationServerMetadata {
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
