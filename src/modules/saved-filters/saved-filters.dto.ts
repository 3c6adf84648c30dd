import { MAX_FILTER_NAME_LENGTH } from '../../infrastructure/pages/index.js';
import { TextField } from '../../infrastructure/validation/index.js';

export class SaveFiltersRequest {
  @TextField({
    max: MAX_FILTER_NAME_LENGTH,
    description: 'Name of the saved filters.',
    example: 'Failed calls of June',
  })
  filter_name!: string;
}
