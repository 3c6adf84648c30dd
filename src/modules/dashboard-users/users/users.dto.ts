import { ROLE, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { BooleanField, EmailField, EnumField, TextField } from '../../../infrastructure/validation/index.js';

/** Returns the part of a list that one page shows. @param cursor the ID of the last item before the page */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  cursor: unknown,
  limit: number,
): { readonly data: readonly Item[]; readonly next_cursor: string | null } {
  const start = items.findIndex(({ id }) => id === cursor) + 1;
  const data = items.slice(start, start + limit);
  return { data, next_cursor: items.length > start + limit ? (data.at(-1)?.id ?? null) : null };
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
