import { Controller, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../../infrastructure/openapi/index.js';
import {
  ACCESS_DENIED,
  AUTHORIZATION_PENDING,
  EXPIRED_TOKEN,
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_REQUEST,
  SLOW_DOWN,
  UNSUPPORTED_GRANT_TYPE,
} from '../protocol/oauth-errors.js';
import { ConfidentialForm, PublicForm } from '../protocol/oauth-form.js';
import { OAuthOperation } from '../protocol/oauth-operation.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { DeviceCodeGrant } from './device-code.grant.js';
import {
  AccessTokenResponse,
  EXAMPLE_ACCESS_TOKEN,
  EXAMPLE_INTROSPECTION,
  ExchangeDeviceCodeRequest,
  IntrospectionResponse,
  IntrospectTokenRequest,
  RevocationResponse,
  RevokeTokenRequest,
} from './tokens.dto.js';
import { TokensService } from './tokens.service.js';

@Topic('Access tokens')
@Controller('oauth')
export class TokensController {
  constructor(
    private readonly deviceCodes: DeviceCodeGrant,
    private readonly tokens: TokensService,
  ) {}

  @Post('token')
  @OAuthOperation({
    operationId: 'exchangeDeviceCode',
    summary: 'Exchange device code for access token',
    description:
      'Poll it with the `device_code` until the person has decided (RFC 8628): `authorization_pending` ' +
      'means go on, `slow_down` go on with the longer interval that the answer tells, everything else ends ' +
      'the flow. The token works for the environment of the client that it was issued for, for 15 minutes; ' +
      'it ends at once when it is revoked or its user is removed. Each code is exchanged once. Limit: 1200 ' +
      'requests a minute from one address, and for each code what `interval` says.',
    body: ExchangeDeviceCodeRequest,
    response: AccessTokenResponse,
    responseDescription: 'The token.',
    responseExample: { token_type: 'Bearer', expires_in: 900, access_token: EXAMPLE_ACCESS_TOKEN },
    errors: [
      AUTHORIZATION_PENDING,
      SLOW_DOWN,
      ACCESS_DENIED,
      EXPIRED_TOKEN,
      INVALID_GRANT,
      UNSUPPORTED_GRANT_TYPE,
      withMessages(
        INVALID_REQUEST,
        'The grant type field is required.',
        'The device code field is required.',
        'A parameter of the form is given more than once.',
        'This endpoint takes no Authorization header.',
        'The request body must be application/x-www-form-urlencoded.',
      ),
      INVALID_CLIENT,
    ],
  })
  exchange(@PublicForm() form: FormFields): Promise<AccessTokenResponse> {
    return this.deviceCodes.exchange(form);
  }

  @Post('revoke')
  @OAuthOperation({
    operationId: 'revokeToken',
    summary: 'Revoke token',
    description:
      'Ends an access token or an MCP token of the client at once (RFC 7009). Call it when an agent or a ' +
      'program is done, or when a token got into wrong hands. A token that does not exist, or not any more, ' +
      'is answered in the same way. Limit: 1200 requests a minute from one address.',
    body: RevokeTokenRequest,
    response: RevocationResponse,
    responseDescription: 'The token is good for nothing, whatever it was before.',
    responseExample: {},
    errors: [
      withMessages(INVALID_REQUEST, 'The token field is required.', 'The client id field is required.'),
      INVALID_CLIENT,
    ],
  })
  revoke(@PublicForm() form: FormFields): Promise<RevocationResponse> {
    return this.tokens.revoke(form);
  }

  @Post('introspect')
  @OAuthOperation({
    operationId: 'introspectToken',
    summary: 'Introspect token',
    description:
      'Says what a token stands for (RFC 7662), as an agent connector needs to know of an MCP token: whose ' +
      'it is, until when, and the phone number where there is one. Takes the Basic credentials of the API ' +
      'client; of tokens that were issued to another client nothing is told but `active: false`. Limit: ' +
      '12000 requests a minute and client.',
    body: IntrospectTokenRequest,
    response: IntrospectionResponse,
    responseDescription: 'What the token stands for.',
    responseExample: EXAMPLE_INTROSPECTION,
    security: 'basic',
    limit: {
      name: 'introspection',
      requests: (configuration) => configuration.get(OAuthConfiguration).introspectionsPerMinute,
      per: 'client',
      seconds: 60,
    },
    errors: [withMessages(INVALID_REQUEST, 'The token field is required.')],
  })
  introspect(
    @CurrentClient() client: AuthenticatedClient,
    @ConfidentialForm() form: FormFields,
  ): Promise<IntrospectionResponse> {
    return this.tokens.introspect(client, form);
  }
}
