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
