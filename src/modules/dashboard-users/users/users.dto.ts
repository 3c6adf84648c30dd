import { ROLE, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { BooleanField, EmailField, EnumField, TextField } from '../../../infrastructure/validation/index.js';

const PER_PAGE = 50;

/** Returns the part of a list that one page shows. @param cursor the ID of the last item before the page */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  cursor: unknown,
): { readonly data: readonly Item[]; readonly next_cursor: string | null } {
  const start = items.findIndex(({ id }) => id === cursor) + 1;
  const data = items.slice(start, start + PER_PAGE);
  return { data, next_cursor: items.length > start + PER_PAGE ? (data.at(-1)?.id ?? null) : null };
}

const NAME_LENGTH = 256;

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

export interface UserResponse {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** The user's own role. An access grant can give a higher one for a limited time. */
  readonly role: DashboardRole;
  readonly disabled: boolean;
  readonly invitation_pending: boolean;
  readonly two_factor_enabled: boolean;
  readonly created_at: Date;
}
