import { CursorField } from '../../infrastructure/paging/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH, TextField } from '../../infrastructure/validation/index.js';

export class ListCustomersQuery {
  /** Any part of the identifier. */
  @TextField({ in: 'form', required: false, max: MAX_EXTERNAL_USER_ID_LENGTH })
  search?: string;

  @CursorField('The `next_cursor` of the previous page. Send the same `search` again.')
  cursor?: string;
}
