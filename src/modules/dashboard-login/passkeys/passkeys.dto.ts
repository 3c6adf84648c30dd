import { TextField } from '../../../infrastructure/validation/index.js';
import { MAX_NAME_LENGTH } from './passkey.entity.js';

export class PasskeyNameRequest {
  @TextField({ in: 'form', max: MAX_NAME_LENGTH })
  name!: string;
}
