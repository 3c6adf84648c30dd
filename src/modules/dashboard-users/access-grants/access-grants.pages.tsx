import type { VNode } from 'preact';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  confirmationPage,
  Done,
  EmptyState,
  FormProblem,
  Form,
  Moment,
  Pagination,
  RelativeTime,
  SelectField,
  Table,
  TextField,
  type Page,
  SubmitButton,
} from '../../../infrastructure/pages/index.js';
import { HOUR, SECOND } from '../../../infrastructure/time/index.js';
import { maxLengthOf } from '../../../infrastructure/validation/index.js';
import { mayManage, ROLE_NAMES } from '../roles.js';
import { CreateAccessGrantRequest, GRANTED_ROLES, type AccessGrantResponse } from './access-grants.dto.js';

export const GRANTS_PATH = '/dashboard/access-grants';
const GRANTS = { title: 'Access grants', path: GRANTS_PATH };
const NEW_PATH = `${GRANTS_PATH}/new`;

function revokePath(id: string): string {
  return `${GRANTS_PATH}/${id}/revoke`;
}

export function grantsPage(
  actor: DashboardActor,
  grants: readonly AccessGrantResponse[],
  nextCursor: string | null,
): Page {
  return {
    title: GRANTS.title,
    parent: { title: 'Users', path: '/dashboard/users' },
    about: 'Users who have, or had, a higher role for a limited time. Grants in force come first.',
    actions: grants.length === 0 ? null : <GrantButton />,
    content: (
      <>
        <Done
          messages={{
            granted: 'The user has the role from now on.',
            revoked: 'The grant was revoked. The user has their own role again.',
          }}
        />
        {grants.length === 0 ? (
          <EmptyState title="No access grants yet">
            <p>
              Give a user a higher role for a limited time, such as for a task or while a colleague is away.
            </p>
            <GrantButton />
          </EmptyState>
        ) : (
          <>
            <Table
              caption="Access grants"
              rows={grants}
              keyOf={({ id }) => id}
              columns={[
                { title: 'User', kind: 'main', cell: ({ email }) => email },
                { title: 'Role', kind: 'short', cell: ({ role }) => ROLE_NAMES[role] },
                { title: 'Status', kind: 'status', cell: (grant) => <Status grant={grant} /> },
                { title: 'Reason', kind: 'text', cell: ({ reason }) => reason },
                {
                  title: 'Granted',
                  kind: 'text',
                  cell: ({ created_at, created_by }) => (
                    <>
                      <RelativeTime time={created_at} /> by {created_by}
                    </>
                  ),
                },
                {
                  title: 'Actions',
                  kind: 'buttons',
                  cell: ({ id, active, role, email }) =>
                    active && mayManage(actor, role) ? (
                      <Allowed operation="revokeAccessGrant">
                        <ButtonLink to={revokePath(id)} kind="danger" of={`the role of ${email}`}>
                          Revoke
                        </ButtonLink>
                      </Allowed>
                    ) : null,
                },
              ]}
            />
            <Pagination nextCursor={nextCursor} />
          </>
        )}
      </>
    ),
  };
}

function GrantButton(): VNode {
  return (
    <Allowed operation="createAccessGrant">
      <ButtonLink to={NEW_PATH}>Grant a role</ButtonLink>
    </Allowed>
  );
}

function Status({ grant }: { readonly grant: AccessGrantResponse }): VNode {
  const { active, revoked_at: revoked, expires_at: expiry } = grant;
  if (active)
    return (
      <>
        <Badge tone="good">In force</Badge> until <Moment time={expiry} />
      </>
    );
  return (
    <>
      <Badge tone="soft">{revoked ? 'Revoked' : 'Expired'}</Badge> <RelativeTime time={revoked ?? expiry} />
    </>
  );
}

/** In seconds, as the operation expects it. */
const hours = (count: number): string => String((count * HOUR) / SECOND);
const ONE_DAY = hours(24);
const LIFETIMES = [
  { value: hours(1), label: '1 hour' },
  { value: hours(4), label: '4 hours' },
  { value: hours(8), label: '8 hours' },
  { value: ONE_DAY, label: '1 day' },
  { value: hours(3 * 24), label: '3 days' },
  { value: hours(7 * 24), label: '1 week' },
];

/** @param emails suggested addresses @param email the chosen one */
export function newGrantPage(actor: DashboardActor, emails: readonly string[], email?: string): Page {
  const roles = GRANTED_ROLES.filter((role) => mayManage(actor, role)).toReversed();
  return {
    title: 'Grant a role for a limited time',
    parent: GRANTS,
    content: (
      <>
        <FormProblem />
        <Form action={NEW_PATH}>
          <TextField
            name="email"
            label="User"
            hint="The email address of a user of your organization. You cannot choose yourself."
            type="email"
            value={email}
            suggestions={emails}
          />
          <SelectField
            name="role"
            label="Role"
            options={roles.map((value) => ({ value, label: ROLE_NAMES[value] }))}
            value="admin"
          />
          <SelectField
            name="expires_in"
            label="For"
            hint="You can revoke the role earlier."
            options={LIFETIMES}
            value={ONE_DAY}
          />
          <TextField
            name="reason"
            label="Reason"
            hint="For later review, such as “Covers for Grace this week”"
            maxLength={maxLengthOf(CreateAccessGrantRequest, 'reason')}
          />
          <SubmitButton>Grant role</SubmitButton>
        </Form>
      </>
    ),
  };
}

export function revokePage({ id, email, role, expires_at }: AccessGrantResponse): Page {
  return confirmationPage({
    title: `Revoke the role of ${email}?`,
    parent: GRANTS,
    action: revokePath(id),
    button: 'Revoke role',
    children: (
      <p>
        The user has the role {ROLE_NAMES[role]} until <Moment time={expires_at} />. If you revoke it, they
        immediately have their own role again.
      </p>
    ),
  });
}
