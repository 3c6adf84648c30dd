import type { Request } from 'express';
import { DEVICE_SCOPES } from '../../../infrastructure/auth/index.js';
import { ConstantProperty, IntegerProperty, TextProperty } from '../../../infrastructure/openapi/index.js';
import { EXAMPLE_CLIENT_ID, EXAMPLE_DEVICE_CODE } from '../authorizations/device-authorizations.dto.js';
import type { Grant } from '../protocol/grant.js';
import { ParameterField } from '../protocol/oauth-form.js';

/** Looks like a token but has no valid signature. */
export const EXAMPLE_ACCESS_TOKEN =
  'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImV4YW1wbGUifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl';

/** RFC 8628, section 3.4. */
export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** The parameters of every grant of a public client. */
export class PublicClientTokenRequest {
  @ParameterField('The device code grant.', DEVICE_CODE, { const: DEVICE_CODE })
  grant_type!: string;

  @ParameterField('The client that the device code was requested for.', EXAMPLE_CLIENT_ID, { format: 'uuid' })
  client_id!: string;
}

export class ExchangeDeviceCodeRequest extends PublicClientTokenRequest {
  @ParameterField('The code from the device-code request.', EXAMPLE_DEVICE_CODE)
  device_code!: string;
}

/** The parameters of a grant that issues tokens of an API key. */
export class KeyTokenRequest {
  @ParameterField('Fewer scopes than those of the API key, separated by spaces.', 'request_logs:read', {
    required: false,
  })
  scope?: string;
}

/** A token of another issuer stands for an API key. */
export class AssertionRequest extends PublicClientTokenRequest {
  @ParameterField('The token of the workload, a JWT.', EXAMPLE_ACCESS_TOKEN)
  assertion!: string;
}

export class AccessTokenResponse {
  @ConstantProperty('Bearer', 'How to send the token.')
  token_type!: 'Bearer';

  @IntegerProperty('Seconds until the token expires.', 900)
  expires_in!: number;

  @TextProperty(
    'The token, a JWT (RFC 9068). Keep it secret: anyone who has it can act for the user or the API key.',
    EXAMPLE_ACCESS_TOKEN,
  )
  access_token!: string;

  @TextProperty('The scopes of the token, separated by spaces.', DEVICE_SCOPES.join(' '))
  scope!: string;
}

/** A grant of `POST /oauth/token`. */
export type TokenGrant<Client, Parameters extends object> = Grant<
  Request,
  Client,
  Parameters,
  AccessTokenResponse
>;
