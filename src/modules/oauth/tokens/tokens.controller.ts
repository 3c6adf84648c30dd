import { Controller, Post } from '@nestjs/common';
import {
  CurrentClient,
  ClientAuthGuard,
  type AuthenticatedClient,
} from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { ConfidentialForm, PublicForm } from '../protocol/oauth-form.js';
import { OAuthOperation } from '../protocol/oauth-operation.js';
import { IntrospectionRateLimitGuard, OAuthRateLimitGuard } from '../protocol/oauth-rate-limit.guards.js';
import { DeviceCodeExchange } from './device-code-exchange.js';
import { PresentedTokens } from './presented-tokens.js';
import { AccessTokenResponse, IntrospectionResponse, RevocationResponse } from './tokens.dto.js';
import { EXCHANGE_DEVICE_CODE, REVOKE_TOKEN, INTROSPECT_TOKEN } from './tokens.docs.js';

@Topic('Access tokens')
@Controller('oauth')
export class TokensController {
  constructor(
    private readonly deviceCodes: DeviceCodeExchange,
    private readonly tokens: PresentedTokens,
  ) {}

  @Post('token')
  @OAuthOperation({
    ...EXCHANGE_DEVICE_CODE,
    guards: [OAuthRateLimitGuard],
  })
  exchange(@PublicForm() form: FormFields): Promise<AccessTokenResponse> {
    return this.deviceCodes.exchange(form);
  }

  @Post('revoke')
  @OAuthOperation({
    ...REVOKE_TOKEN,
    guards: [OAuthRateLimitGuard],
  })
  revoke(@PublicForm() form: FormFields): Promise<RevocationResponse> {
    return this.tokens.revoke(form);
  }

  @Post('introspect')
  @OAuthOperation({
    ...INTROSPECT_TOKEN,
    security: 'basic',
    guards: [ClientAuthGuard, IntrospectionRateLimitGuard],
  })
  introspect(
    @CurrentClient() client: AuthenticatedClient,
    @ConfidentialForm() form: FormFields,
  ): Promise<IntrospectionResponse> {
    return this.tokens.introspect(client, form);
  }
}
