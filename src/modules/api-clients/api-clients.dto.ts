import { ApiProperty } from '@nestjs/swagger';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { IntegerField } from '../../infrastructure/validation/index.js';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from './api-clients.service.js';

export const EXAMPLE_CLIENT = {
  client_id: '19b11f7c-4c8e-49bf-853e-3cea2462349f',
  environment: 'production',
  enabled_operations: [],
  created_at: '2026-01-31T08:15:30.123Z',
  newest_secret_version: 2,
  signing_secret_version: 1,
  overlap_ends_at: '2026-02-01T08:15:30.123Z',
};

export const EXAMPLE_SECRET = {
  client_id: EXAMPLE_CLIENT.client_id,
  environment: 'production',
  secret: 'mcs_live_…',
};

export class RotateSecretRequest {
  @IntegerField({
    required: false,
    min: 0,
    max: MAX_OVERLAP_HOURS,
    default: DEFAULT_OVERLAP_HOURS,
    description: 'Hours for which the previous secret is still accepted. Use 0 after a leak.',
    example: 24,
  })
  overlap_hours: number = DEFAULT_OVERLAP_HOURS;
}

function ClientId(): PropertyDecorator {
  return ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the client.',
    example: EXAMPLE_CLIENT.client_id,
  });
}

function Environment(): PropertyDecorator {
  return ApiProperty({
    enum: ENVIRONMENTS,
    description: 'The environment of the client.',
    example: 'production',
  });
}

export class ApiClientResponse {
  @ClientId()
  client_id!: string;

  @Environment()
  environment!: PlatformEnvironment;

  @ApiProperty({
    type: [String],
    description: 'Operations available by arrangement that are enabled for this client.',
    example: [],
  })
  enabled_operations!: string[];

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the client was created.',
    example: EXAMPLE_CLIENT.created_at,
  })
  created_at!: Date;

  @ApiProperty({ type: 'integer', description: 'Version of the newest secret.', example: 2 })
  newest_secret_version!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Version of the secret that signs webhooks. During a rotation, the previous version signs them until you ' +
      'activate the newest one or the overlap ends.',
    example: 1,
  })
  signing_secret_version!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'Until when the previous secret is still accepted; null if only the newest secret is accepted.',
    example: EXAMPLE_CLIENT.overlap_ends_at,
  })
  overlap_ends_at!: Date | null;
}

export class ApiSecretResponse {
  @ClientId()
  client_id!: string;

  @Environment()
  environment!: PlatformEnvironment;

  @ApiProperty({
    type: String,
    description: 'The newest secret: the password for the platform API and the key of `Service-Signature`.',
    example: EXAMPLE_SECRET.secret,
  })
  secret!: string;
}
