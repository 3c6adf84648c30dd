import { ApiProperty } from '@nestjs/swagger';
import {
  ExternalUserId,
  Field,
  isInteger,
  maximum,
  minimum,
  NorthAmericanPhoneNumber,
} from '../../infrastructure/validation/index.js';

/** Seconds. */
const MIN_LIFETIME = 60;
const MAX_LIFETIME = 2_592_000;
const DEFAULT_LIFETIME = 86_400;

/** Of the right form, with a checksum that no real token has. */
export const EXAMPLE_TOKEN = 'mcp_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';

export class CreateMcpTokenRequest {
  @ExternalUserId()
  external_user_id!: string;

  @Field({
    required: false,
    default: DEFAULT_LIFETIME,
    rules: [isInteger, maximum(MAX_LIFETIME), minimum(MIN_LIFETIME)],
    document: {
      type: 'integer',
      minimum: MIN_LIFETIME,
      maximum: MAX_LIFETIME,
      description: 'Seconds until the token expires: a minute to 30 days. A day when left out.',
      example: 3600,
    },
  })
  expires_in: number = DEFAULT_LIFETIME;

  @NorthAmericanPhoneNumber('Needed if the agent connector shall create sign-in links.')
  phone_number?: string;
}

export class McpTokenResponse {
  @ApiProperty({
    type: String,
    description: 'The token. A secret: it is shown once, and whoever holds it acts for the user.',
    pattern: '^mcp_(dev|live)_[0-9A-Za-z]{49}$',
    example: EXAMPLE_TOKEN,
  })
  token!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the token expires.',
    example: '2026-01-31T08:15:30.123Z',
  })
  expires_at!: Date;
}
