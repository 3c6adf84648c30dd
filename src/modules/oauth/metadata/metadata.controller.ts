import { Controller, Get, Header } from '@nestjs/common';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { OAuthMetadata } from '../protocol/oauth-operation.js';
import { OAuthRateLimitGuard } from '../protocol/oauth-rate-limit.guards.js';
import { JWKS_KEPT_FOR } from '../tokens/key-schedule.js';
import { AuthorizationServerMetadata, JsonWebKeySet } from './metadata.dto.js';
import { MetadataService } from './metadata.service.js';
import { GET_METADATA, GET_KEYS } from './metadata.docs.js';

const KEPT_FOR = `public, max-age=${JWKS_KEPT_FOR / SECOND}`;

@Topic('Access tokens')
@Controller('.well-known')
export class MetadataController {
  constructor(private readonly metadata: MetadataService) {}

  @Get('oauth-authorization-server')
  @Header('Cache-Control', KEPT_FOR)
  @OAuthMetadata({
    ...GET_METADATA,
    guards: [OAuthRateLimitGuard],
  })
  authorizationServer(): AuthorizationServerMetadata {
    return this.metadata.authorizationServer();
  }

  @Get('jwks.json')
  @Header('Cache-Control', KEPT_FOR)
  @OAuthMetadata({
    ...GET_KEYS,
    guards: [OAuthRateLimitGuard],
  })
  jwks(): Promise<JsonWebKeySet> {
    return this.metadata.jwks();
  }
}
