import { Controller, Get, Header } from '@nestjs/common';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { INTERNAL_ERROR, SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { OAuthMetadata } from '../protocol/oauth-operation.js';
import { JWKS_CACHED_FOR } from '../tokens/key-schedule.js';
import {
  AuthorizationServerMetadata,
  EXAMPLE_JWKS,
  EXAMPLE_METADATA,
  JsonWebKeySet,
} from './metadata.dto.js';
import { MetadataService } from './metadata.service.js';

const CACHE_CONTROL = `public, max-age=${JWKS_CACHED_FOR / SECOND}`;

@Topic('Access tokens')
@Controller('.well-known')
export class MetadataController {
  constructor(private readonly metadata: MetadataService) {}

  @Get('oauth-authorization-server')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata({
    operationId: 'getAuthorizationServerMetadata',
    summary: 'Get authorization server metadata',
    description:
      'Where everything of OAuth is, and what it can do (RFC 8414). Libraries read it by themselves.',
    response: AuthorizationServerMetadata,
    responseDescription: 'The metadata.',
    responseExample: EXAMPLE_METADATA,
    errors: [],
  })
  authorizationServer(): AuthorizationServerMetadata {
    return this.metadata.authorizationServer();
  }

  @Get('jwks.json')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata({
    operationId: 'getJsonWebKeySet',
    summary: 'Get JSON Web Key Set',
    description:
      'The keys that access tokens are verified with (RFC 7517). A new key is here 10 minutes before it ' +
      'signs; keep the answer no longer than its `Cache-Control` says.',
    response: JsonWebKeySet,
    responseDescription: 'The keys.',
    responseExample: EXAMPLE_JWKS,
    errors: [INTERNAL_ERROR, SERVICE_UNAVAILABLE],
  })
  jwks(): Promise<JsonWebKeySet> {
    return this.metadata.jwks();
  }
}
