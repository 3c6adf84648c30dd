import { Controller, Inject, Post } from '@nestjs/common';
import type { VNode } from 'preact';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import {
  ActionButton,
  Badge,
  DashboardAction,
  FormPage,
  Notice,
  requireUnchanged,
  SelectField,
  submitted,
  Table,
  TextField,
  Visit,
  type FormDescription,
  type PageResponse,
  type PageVisit,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import type { DashboardUser } from '../../dashboard-users/index.js';
import { RECENCY_REMEDY } from '../logins/identity-provider.js';
import type { SsoSetting } from './sso-settings.repository.js';
import { SsoSettingsRequest } from './sso-settings.dto.js';
import { SsoSettingsService } from './sso-settings.service.js';

export const SSO_SETTINGS_PATH = '/dashboard/single-sign-on-settings';

@Controller('dashboard/single-sign-on-settings')
export class SsoSettingsPage extends FormPage('enableSamlConfiguration', SsoSettingsRequest) {
  @Inject() private readonly settings!: SsoSettingsService;

  async describe({ actor, form }: PageVisit): Promise<FormDescription<SsoSettingsRequest>> {
    const setting = await this.settings.get(actor.organizationId);
    const recencyProblem = await this.settings.recencyProblemOf(actor.organizationId);
    return {
      title: 'Single sign-on settings',
      parent: { title: 'Single sign-on', path: '/dashboard/single-sign-on' },
      messages: {
        changed: 'The settings were changed.',
        marked: 'The owner is a break-glass owner now.',
        unmarked: 'The owner is no longer a break-glass owner.',
      },
      version: versionOf(setting),
      values: {
        required: setting.requiredAt !== null,
        is_two_factor: setting.isTwoFactor,
        creates_users: setting.createsUsers,
        role_attribute: setting.roleAttribute,
        owner_values: setting.ownerValues.join(', '),
        admin_values: setting.adminValues.join(', '),
        member_values: setting.memberValues.join(', '),
      },
      fields: (
        <>
          <h2>Passwords</h2>
          {recencyProblem === null ? null : (
            <Notice kind="bad">
              {recencyProblem} {RECENCY_REMEDY}
            </Notice>
          )}
          <SelectField
            name="required"
            label="Must users log in at the identity provider?"
            hint="If they must, passwords and passkeys work for break-glass owners only. If no owner is a break-glass owner yet, and you are an owner, you become one."
          />
          <SelectField
            name="is_two_factor"
            label="Does a login at the identity provider count as two factors?"
            hint="Choose “Yes” only if your identity provider asks everybody for a second factor."
          />
          <h2>New users</h2>
          <SelectField
            name="creates_users"
            label="Do new people become users at their first login?"
            hint="Their email addresses must be in a proved domain. They become viewers, unless the identity provider decides the role."
          />
          <h2>Roles</h2>
          <TextField
            name="role_attribute"
            label="Claim or attribute with the role"
            hint="Such as “groups”. If it is empty, roles are changed on the page “Users” only."
          />
          <TextField name="owner_values" label="Values for owners" hint="Separated by commas" />
          <TextField name="admin_values" label="Values for admins" hint="Separated by commas" />
          <TextField name="member_values" label="Values for members" hint="Separated by commas" />
          <p>Everybody else becomes a viewer. Roles change at the next login.</p>
        </>
      ),
      button: 'Save settings',
      after: breakGlassOwners(await this.settings.owners(actor), actor),
      perform: (request) =>
        this.settings.change(actor, request, (current) => requireUnchanged(form, versionOf(current))),
      next: `${SSO_SETTINGS_PATH}?done=changed`,
    };
  }

  @Post('break-glass')
  @DashboardAction('enableSamlConfiguration')
  mark(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, form } = visit;
    return submitted(
      async () => {
        const isMarked = form.get('mark') === 'yes';
        await this.settings.markBreakGlass(actor, form.get('user_id') ?? '', isMarked);
        return { redirectTo: `${SSO_SETTINGS_PATH}?done=${isMarked ? 'marked' : 'unmarked'}` };
      },
      () => this.show(visit),
    );
  }
}

/** What the form changes. */
const versionOf = (setting: SsoSetting): ShownValues => ({
  'Users must log in at the identity provider': setting.requiredAt === null ? 'No' : 'Yes',
  'A login counts as two factors': setting.isTwoFactor ? 'Yes' : 'No',
  'New people become users': setting.createsUsers ? 'Yes' : 'No',
  'Claim or attribute with the role': setting.roleAttribute ?? 'none',
  'Values for owners': setting.ownerValues.join(', ') || 'none',
  'Values for admins': setting.adminValues.join(', ') || 'none',
  'Values for members': setting.memberValues.join(', ') || 'none',
});

function breakGlassOwners(owners: readonly DashboardUser[], { userId, role }: DashboardActor): VNode {
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
            kind: 'short',
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
      action={`${SSO_SETTINGS_PATH}/break-glass`}
      fields={{ user_id: id, mark: isBreakGlass ? 'no' : 'yes' }}
      of={email}
    >
      {isBreakGlass ? 'Remove the mark' : 'Mark'}
    </ActionButton>
  );
}
