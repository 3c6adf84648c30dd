import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { IntegerField, TextField } from '../../infrastructure/validation/index.js';
import { MAX_NAME_LENGTH } from './api-client.entity.js';

export class RotateSecretRequest {
  /** For which the previous secret is still accepted. */
  @IntegerField({
    in: 'form',
    required: false,
    min: 0,
    max: MAX_OVERLAP_HOURS,
    default: DEFAULT_OVERLAP_HOURS,
  })
  overlap_hours: number = DEFAULT_OVERLAP_HOURS;
}

export class UpdateClientRequest {
  @TextField({ in: 'form', max: MAX_NAME_LENGTH })
  name!: string;
}

export interface ApiClientResponse {
  readonly client_id: string;
  readonly environment: PlatformEnvironment;
  readonly name: string | null;
  /** Operations available by arrangement that are enabled for this client. */
  readonly enabled_operations: readonly string[];
  readonly created_at: Date;
  readonly newest_secret_version: number;
  /** During a rotation, the previous version signs webhooks until the newest one is activated or the overlap ends. */
  readonly signing_secret_version: number;
  /** Until when the previous secret is still accepted; null if only the newest secret is accepted. */
  readonly overlap_ends_at: Date | null;
}
