import { TextProperty, TimestampProperty } from '../../../infrastructure/openapi/index.js';
import { ExternalUserIdField, PhoneNumberField } from '../../../infrastructure/validation/index.js';

export const EXAMPLE_AUTHORIZATION_ID = '6b8c1d9e-2f43-4f5a-9c1b-7a0e3d2c4b59';

/** The user whom the partner has logged in. */
export class AgentUserRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @PhoneNumberField({
    required: false,
    countries: 'US and Canada',
    description: 'E.164; a valid US or Canadian number. Required for the agent to create sign-in links.',
    example: '+12125550123',
  })
  phone_number?: string;
}

export class CompletedAuthorizationResponse {
  @TextProperty(
    'Redirect the user’s browser to this address. It works once, in the browser in which the user started.',
    `https://mcp.example.com/connections/19b11f7c-4c8e-49bf-853e-3cea2462349f/authorizations/${EXAMPLE_AUTHORIZATION_ID}?ticket=example`,
    { format: 'uri' },
  )
  redirect_url!: string;
}

export class ConnectionCodeResponse {
  @TextProperty('The code to show to the user.', 'WDJB-MJHT', {
    pattern: '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$',
  })
  code!: string;

  @TimestampProperty('When the code expires: after 5 minutes.')
  expires_at!: Date;
}
