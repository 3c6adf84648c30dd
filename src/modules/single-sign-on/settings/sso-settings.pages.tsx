import type { VNode } from 'preact';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import {
  ActionButton,
  Badge,
  Done,
  Form,
  FormProblem,
  Notice,
  Seen,
  SelectField,
  Table,
  TextField,
  type Page,
  type ShownValues,
  SubmitButton,
} from '../../../infrastructure/pages/index.js';
import { maxLengthOf } from '../../../infrastructure/validation/index.js';
import { SsoSettingsRequest } from './sso-settings.dto.js';
import type { DashboardUser } from '../../dashboard-users/index.js';
import { STALENESS_REMEDY } from '../logins/refused-login.js';
import type { SsoSetting } from './sso-setting.entity.js';

export const SETTINGS_PATH = '/dashboard/single-sign-on-settings';
const PARENT = { title: 'Single sign-on', path: '/dashboard/single-sign-on' };

export function settingsPage(
  { userId, role }: DashboardActor,
  setting: SsoSetting,
  owners: readonly DashboardUser[],
  staleness: string | null,
): Page {
  const { createsUsers, roleAttribute, ownerValues, adminValues, memberValues, isTwoFactor, requiredAt } =
    setting;
  return {
    title: 'Single sign-on settings',
    parent: PARENT,
    content: (
      <>
        <Done
          messages={{
            changed: 'The settings were changed.',
            marked: 'The owner is a break-glass owner now.',
            unmarked: 'The owner is no longer a break-glass owner.',
          }}
        />
        <FormProblem />
        <Form action={SETTINGS_PATH}>
          <Seen values={changeableOf(setting)} />
          <h2>Passwords</h2>
          {staleness === null ? null : (
            <Notice kind="bad">
              {staleness} {STALENESS_REMEDY}
            </Notice>
          )}
          <Choice
            name="required"
            label="Must users log in at the identity provider?"
            hint="If they must, passwords and passkeys work for break-glass owners only. If no owner is a break-glass owner yet, and you are an owner, you become one."
            value={requiredAt !== null}
          />
          <Choice
            name="is_two_factor"
            label="Does a login at the identity provider count as two factors?"
            hint="Choose “Yes” only if your identity provider asks everybody for a second factor."
            value={isTwoFactor}
          />
          <h2>New users</h2>
          <Choice
            name="creates_users"
            label="Do new people become users at their first login?"
            hint="Their email addresses must be in a proved domain. They become viewers, unless the identity provider decides the role."
            value={createsUsers}
          />
          <h2>Roles</h2>
          <TextField
            name="role_attribute"
            label="Claim or attribute with the role"
            hint="Such as “groups”. If it is empty, roles are changed on the page “Users” only."
            value={roleAttribute ?? undefined}
            required={false}
            maxLength={maxLengthOf(SsoSettingsRequest, 'role_attribute')}
          />
          <Values name="owner_values" role="owners" values={ownerValues} />
          <Values name="admin_values" role="admins" values={adminValues} />
          <Values name="member_values" role="members" values={memberValues} />
          <p>Everybody else becomes a viewer. Roles change at the next login.</p>
          <SubmitButton>Save settings</SubmitButton>
        </Form>
        <h2>Break-glass owners</h2>
        <p>
          They can always log in with their passwords, for example when the identity provider does not work.
          The identity provider cannot change their role.
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
              kind: 'short',
              cell: ({ isBreakGlass }) =>
                isBreakGlass ? <Badge tone="good">Yes</Badge> : <Badge tone="soft">No</Badge>,
            },
            ...(role === 'owner' ? [{ title: 'Change', kind: 'buttons' as const, cell: MarkButton }] : []),
          ]}
        />
      </>
    ),
  };
}

/** What the form changes. */
export const changeableOf = (setting: SsoSetting): ShownValues => ({
  'Users must log in at the identity provider': setting.requiredAt === null ? 'No' : 'Yes',
  'A login counts as two factors': setting.isTwoFactor ? 'Yes' : 'No',
  'New people become users': setting.createsUsers ? 'Yes' : 'No',
  'Claim or attribute with the role': setting.roleAttribute ?? 'none',
  'Values for owners': setting.ownerValues.join(', ') || 'none',
  'Values for admins': setting.adminValues.join(', ') || 'none',
  'Values for members': setting.memberValues.join(', ') || 'none',
});

function MarkButton({ id, email, isBreakGlass }: DashboardUser): VNode {
  return (
    <ActionButton
      action={`${SETTINGS_PATH}/break-glass`}
      fields={{ user_id: id, mark: isBreakGlass ? 'no' : 'yes' }}
      of={email}
    >
      {isBreakGlass ? 'Remove the mark' : 'Mark'}
    </ActionButton>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly value: boolean;
}

function Choice({ value, ...props }: ChoiceProps): VNode {
  const options = [
    { value: 'no', label: 'No' },
    { value: 'yes', label: 'Yes' },
  ];
  return <SelectField {...props} options={options} value={value ? 'yes' : 'no'} />;
}

interface ValuesProps {
  readonly name: 'owner_values' | 'admin_values' | 'member_values';
  readonly role: string;
  readonly values: readonly string[];
}

function Values({ name, role, values }: ValuesProps): VNode {
  return (
    <TextField
      name={name}
      label={`Values for ${role}`}
      hint="Separated by commas"
      value={values.join(', ')}
      required={false}
      maxLength={maxLengthOf(SsoSettingsRequest, name)}
    />
  );
}
