import { Controller, Post, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  CurrentClient,
  CurrentActor,
  type AuthenticatedClient,
  type DashboardActor,
} from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { perMinute } from '../../../infrastructure/rate-limiting/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { TokenEndpoint } from '../protocol/grant.js';
import { AgentForm, ConfidentialForm, PublicForm, type FormParameters } from '../protocol/oauth-form.js';
import { OAuthOperation } from '../protocol/oauth-operation.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { GRANTS } from './grants.js';
import type { AccessTokenResponse } from './grants.dto.js';
import {
  CurrentUserResponse,
  EXCHANGE_DEVICE_CODE,
  GET_CURRENT_USER,
  INTROSPECT_TOKEN,
  IntrospectionResponse,
  IntrospectTokenRequest,
  RevocationResponse,
  REVOKE_TOKEN,
  RevokeTokenRequest,
} from './tokens.dto.js';
import { TokensService } from './tokens.service.js';
import { OAUTH_PERMISSIONS } from '../oauth.capability.js';

@Topic('Access tokens')
@Controller('oauth')
export class TokensController {
  constructor(private readonly endpoint: TokenEndpoint) {}

  @Post('token')
  @OAuthOperation(EXCHANGE_DEVICE_CODE, { grants: GRANTS })
  exchange(@PublicForm() form: FormParameters, @Req() request: Request): Promise<AccessTokenResponse> {
    return this.endpoint.exchange(GRANTS, form, request);
  }
}

@Topic(
  'Token management',
  'Revokes and checks access tokens. Finds the authorization server and its keys.',
  100,
)
@Controller('oauth')
export class TokenManagementController {
  constructor(private readonly tokens: TokensService) {}

  @Post('revoke')
  @OAuthOperation(REVOKE_TOKEN)
  revoke(@AgentForm() request: RevokeTokenRequest): Promise<RevocationResponse> {
    return this.tokens.revoke(request);
  }

  @Post('introspect')
  @OAuthOperation(INTROSPECT_TOKEN, {
    scope: 'tokens:introspect',
    limit: perMinute('introspection', 'client', OAuthConfiguration, 'introspectionsPerMinute'),
  })
  introspect(
    @CurrentClient() client: AuthenticatedClient,
    @ConfidentialForm() request: IntrospectTokenRequest,
  ): Promise<IntrospectionResponse> {
    return this.tokens.introspect(client, request);
  }
}

@Topic('Token management')
@Controller()
export class CurrentUserController {
  @Get('me')
  @DashboardOperation(GET_CURRENT_USER, OAUTH_PERMISSIONS.getCurrentUser)
  currentUser(@CurrentActor() actor: DashboardActor): CurrentUserResponse {
    return describe(actor);
  }
}

function describe({ credential, ...user }: DashboardActor): CurrentUserResponse {
  return {
    id: user.userId,
    name: user.name,
    email: user.email,
    organization_id: user.organizationId,
    role: user.role,
    token:
      credential.kind === 'session'
        ? null
        : {
            client_id: credential.clientId,
            environment: credential.environment,
            scopes: [...credential.scopes],
          },
  };
}
