import { Controller, Get, Header } from '@nestjs/common';
import { HiddenFromAgentsGuard } from '../../../infrastructure/http/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { OAuthMetadata } from '../protocol/oauth-operation.js';
import { JWKS_CACHED_FOR } from '../tokens/key-schedule.js';
import { AuthorizationServerMetadata, JsonWebKeySet } from './metadata.dto.js';
import { MetadataService } from './metadata.service.js';
import { GET_METADATA, GET_KEYS } from './metadata.docs.js';

const CACHE_CONTROL = `public, max-age=${JWKS_CACHED_FOR / SECOND}`;

@Topic('Access tokens')
@Controller('.well-known')
export class MetadataController {
  constructor(private readonly metadata: MetadataService) {}

  @Get('oauth-authorization-server')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_METADATA, HiddenFromAgentsGuard)
  authorizationServer(): AuthorizationServerMetadata {
    return this.metadata.authorizationServer();
  }

  @Get('jwks.json')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_KEYS)
  jwks(): Promise<JsonWebKeySet> {
    return this.metadata.jwks();
  }
}
