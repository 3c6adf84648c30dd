import { Controller, Get } from '@nestjs/common';
import { HiddenFromAgentsGuard, PublicAddress } from '../../../infrastructure/http/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { OAuthMetadata } from '../protocol/oauth-operation.js';
import { JWKS_CACHED_FOR, TokenSigningKeysService } from '../tokens/token-signing-keys.service.js';
import {
  GET_KEYS,
  GET_METADATA,
  metadataOf,
  type AuthorizationServerMetadata,
  type JsonWebKeySet,
  type PublicJwk,
} from './metadata.dto.js';

const MAX_AGE = JWKS_CACHED_FOR / SECOND;

@Topic('Token management')
@Controller('.well-known')
export class MetadataController {
  constructor(
    private readonly address: PublicAddress,
    private readonly keys: TokenSigningKeysService,
  ) {}

  @Get('oauth-authorization-server')
  @OAuthMetadata(GET_METADATA, { maxAge: MAX_AGE, guards: [HiddenFromAgentsGuard] })
  authorizationServer(): AuthorizationServerMetadata {
    return metadataOf(this.address.of('dashboard'));
  }

  /** Reads the keys from the database, so that a new key is published before any process signs with it. */
  @Get('jwks.json')
  @OAuthMetadata(GET_KEYS, { maxAge: MAX_AGE })
  async jwks(): Promise<JsonWebKeySet> {
    return { keys: (await this.keys.published()).map(({ publicJwk }) => publicJwk as PublicJwk) };
  }
}
