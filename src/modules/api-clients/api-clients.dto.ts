import {
  EnumProperty,
  IntegerProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../infrastructure/openapi/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { ENVIRONMENT, IntegerField, TextField } from '../../infrastructure/validation/index.js';
import { MAX_NAME_LENGTH } from './api-client.entity.js';

const EXAMPLE_NAME = 'Example shop';
export const EXAMPLE_CLIENT_ID = '19b11f7c-4c8e-49bf-853e-3cea2462349f';

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

export class UpdateClientRequest {
  @TextField({
    max: MAX_NAME_LENGTH,
    description: 'What you call the client. Users see the name when they approve a device.',
    example: EXAMPLE_NAME,
  })
  name!: string;
}

class ClientResponse {
  @UuidProperty('ID of the client.', EXAMPLE_CLIENT_ID)
  client_id!: string;

  @EnumProperty(ENVIRONMENT, 'The environment of the client.', 'production')
  environment!: PlatformEnvironment;
}

export class ApiClientResponse extends ClientResponse {
  @TextProperty('What you call the client; null until you name it.', EXAMPLE_NAME, {
    nullable: true,
    maxLength: MAX_NAME_LENGTH,
  })
  name!: string | null;

  @TextProperty('Operations available by arrangement that are enabled for this client.', [], {
    isArray: true,
  })
  enabled_operations!: string[];

  @TimestampProperty('When the client was created.')
  created_at!: Date;

  @IntegerProperty('Version of the newest secret.', 2, { minimum: 1 })
  newest_secret_version!: number;

  @IntegerProperty(
    'Version of the secret that signs webhooks. During a rotation, the previous version signs them until you ' +
      'activate the newest one or the overlap ends.',
    1,
    { minimum: 1 },
  )
  signing_secret_version!: number;

  @TimestampProperty(
    'Until when the previous secret is still accepted; null if only the newest secret is accepted.',
    '2026-02-01T08:15:30.123Z',
    { nullable: true },
  )
  overlap_ends_at!: Date | null;
}

export class ApiSecretResponse extends ClientResponse {
  @TextProperty(
    'The newest secret: the password for the platform API. It is also the key of `Service-Signature`, during a rotation once it is activated.',
    'mcs_live_…',
    { pattern: '^mcs_(dev|live)_' },
  )
  secret!: string;
}
