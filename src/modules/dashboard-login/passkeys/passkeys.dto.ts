import { TextField } from '../../../infrastructure/validation/index.js';
import { MAX_NAME_LENGTH } from './passkey.entity.js';

export class PasskeyNameRequest {
  @TextField({ max: MAX_NAME_LENGTH, description: 'Name of the passkey.', example: 'Work laptop' })
  name!: string;
}
