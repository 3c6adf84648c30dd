import { ROLE, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { CursorField } from '../../../infrastructure/paging/index.js';
import { BooleanField, EmailField, EnumField, TextField } from '../../../infrastructure/validation/index.js';
import { USER_STATUSES, type UserStatus } from './dashboard-user.entity.js';

const NAME_LENGTH = 256;
const FILTER = { in: 'form', required: false } as const;

/** The filters of the list of users, and the position of a page. */
export class UsersQuery {
  /** A part of the name or email address. */
  @TextField({ ...FILTER, max: NAME_LENGTH, isTrimmed: true })
  search?: string;

  @EnumField(ROLE, FILTER)
  role?: DashboardRole;

  @EnumField(USER_STATUSES, FILTER)
  status?: UserStatus;

  @EnumField(['on', 'off'], FILTER)
  two_factor?: 'on' | 'off';

  @CursorField('The position of the last user before the page.')
  cursor?: string;
}

export class CreateUserRequest {
  @EmailField({ in: 'form' })
  email!: string;

  @TextField({ in: 'form', max: NAME_LENGTH })
  name!: string;

  @EnumField(ROLE, { in: 'form' })
  role!: DashboardRole;
}

export class UpdateUserRequest {
  @TextField({ in: 'form', required: false, max: NAME_LENGTH })
  name?: string;

  @EnumField(ROLE, { in: 'form', required: false })
  role?: DashboardRole;

  @BooleanField({ in: 'form', required: false })
  disabled?: boolean;
}
