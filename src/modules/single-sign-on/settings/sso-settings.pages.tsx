import type { VNode } from 'preact';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import {
  ActionButton,
  Badge,
  Notice,
  SwitchField,
  Table,
  TextField,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import type { DashboardUser } from '../../dashboard-users/index.js';
import { SSO_OVERVIEW } from '../configuration-path.js';
import type { SsoSetting } from './sso-setting.entity.js';
import { textOf } from './sso-settings.service.js';

const VALUES = 'Separated by commas. Put a value that contains commas in quotation marks.';
const BREAK_GLASS_PATH = `${SSO_OVERVIEW.path}/break-glass`;

/** The fields of the settings. @param problem what owners should know about the enabled provider */
export function settingFields(problem: string | null): VNode {
  return (
    <>
      <h2>Passwords</h2>
      {problem === null ? null : <Notice kind="bad">{problem}</Notice>}
      <SwitchField
        name="required"
        label="Users must log in at the identity provider"
        hint="Passwords and passkeys then work for break-glass owners only. Users with addresses in no proved domain cannot log in on the login page then. If no owner is a break-glass owner yet, and you are an owner, you become one."
      />
      <SwitchField
        name="is_two_factor"
        label="A login at the identity provider counts as two factors"
        hint="Only if your identity provider asks everybody for a second factor."
      />
      <h2>New users</h2>
      <SwitchField
        name="creates_users"
        label="New people become users at their first login"
        hint="Their email addresses must be in a proved domain. They become viewers, unless the identity provider decides the role."
      />
      <h2>Roles</h2>
      <TextField
        name="role_attribute"
        label="Claim or attribute with the role"
        hint="Such as “groups”, or “realm_access.roles” for a claim in another one. If it is empty, roles are changed on the page “Users” only."
      />
      <TextField name="owner_values" label="Values for owners" hint={VALUES} />
      <TextField name="admin_values" label="Values for admins" hint={VALUES} />
      <TextField name="member_values" label="Values for members" hint={VALUES} />
      <p>Everybody else becomes a viewer. Roles change at the next login.</p>
    </>
  );
}

/** Returns the values of the fields. */
export const valuesOf = (setting: SsoSetting): object => ({
  required: setting.requiredAt !== null,
  is_two_factor: setting.isTwoFactor,
  creates_users: setting.createsUsers,
  role_attribute: setting.roleAttribute,
  owner_values: textOf(setting.ownerValues),
  admin_values: textOf(setting.adminValues),
  member_values: textOf(setting.memberValues),
});

/** The values that the form changes. */
export const versionOf = (setting: SsoSetting): ShownValues => ({
  'Users must log in at the identity provider': setting.requiredAt === null ? 'No' : 'Yes',
  'A login counts as two factors': setting.isTwoFactor ? 'Yes' : 'No',
  'New people become users': setting.createsUsers ? 'Yes' : 'No',
  'Claim or attribute with the role': setting.roleAttribute ?? 'none',
  'Values for owners': textOf(setting.ownerValues) || 'none',
  'Values for admins': textOf(setting.adminValues) || 'none',
  'Values for members': textOf(setting.memberValues) || 'none',
});

/** Below the settings: who can log in if the identity provider does not work. */
export function breakGlassOwners(owners: readonly DashboardUser[], { userId, role }: DashboardActor): VNode {
  return (
    <>
      <h2>Break-glass owners</h2>
      <p>
        They can always log in with their passwords, for example when the identity provider does not work. The
        identity provider cannot change their role.
      </p>
      <Table
        caption="Break-glass owners"
        rows={owners}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', kind: 'main', cell: ({ id, name }) => (id === userId ? `${name} (you)` : name) },
          { title: 'Email address', kind: 'main', cell: ({ email }) => email },
          {
            title: 'Break-glass',
            kind: 'word',
            cell: ({ isBreakGlass }) =>
              isBreakGlass ? <Badge tone="good">Yes</Badge> : <Badge tone="soft">No</Badge>,
          },
          ...(role === 'owner' ? [{ title: 'Change', kind: 'buttons' as const, cell: MarkButton }] : []),
        ]}
      />
    </>
  );
}

function MarkButton({ id, email, isBreakGlass }: DashboardUser): VNode {
  return (
    <ActionButton
      action={BREAK_GLASS_PATH}
      fields={{ user_id: id, mark: isBreakGlass ? 'no' : 'yes' }}
      of={email}
    >
      {isBreakGlass ? 'Unmark' : 'Mark'}
    </ActionButton>
  );
}
