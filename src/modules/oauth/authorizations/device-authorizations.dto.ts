import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SCOPES } from '../../../infrastructure/auth/index.js';

export const EXAMPLE_CLIENT_ID = '19b11f7c-4c8e-49bf-853e-3cea2462349f';
export const EXAMPLE_DEVICE_CODE = '6tWyiEDHh4Dq1rmq0oTgxkFE2Y3nVnBq5h0bX8JrZLk';

export class DeviceCodeRequest {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The API client that the token is requested for. It also determines the environment.',
    example: EXAMPLE_CLIENT_ID,
  })
  client_id!: string;

  @ApiPropertyOptional({
    type: String,
    description: `The requested scopes, separated by spaces: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}. The default is all scopes.`,
    example: 'request_logs:read webhook_endpoints:read',
  })
  scope?: string;
}

export class DeviceCodeResponse {
  @ApiProperty({
    type: String,
    description: 'The code that the device polls with. Keep it secret.',
    example: EXAMPLE_DEVICE_CODE,
  })
  device_code!: string;

  @ApiProperty({
    type: String,
    pattern: '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$',
    description: 'The code that the user enters at `verification_uri`.',
    example: 'WDJB-MJHT',
  })
  user_code!: string;

  @ApiProperty({
    type: String,
    format: 'uri',
    description: 'The page where the user approves the device. It is short enough to type.',
    example: 'https://dashboard.example.com/device',
  })
  verification_uri!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uri',
    description: 'The same page with the user code in the URL. Only present if the deployment enables it.',
    example: 'https://dashboard.example.com/device?user_code=WDJB-MJHT',
  })
  verification_uri_complete?: string;

  @ApiProperty({ type: 'integer', description: 'Seconds until both codes expire.', example: 600 })
  expires_in!: number;

  @ApiProperty({ type: 'integer', description: 'Seconds to wait between two polls.', example: 5 })
  interval!: number;
}
