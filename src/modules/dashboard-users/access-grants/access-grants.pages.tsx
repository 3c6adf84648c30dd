import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import {
  actionColumn,
  Badge,
  ButtonLink,
  ConfirmPage,
  FormPage,
  ListPage,
  Moment,
  queryFrom,
  SelectField,
  TextField,
  UNCHANGEABLE,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { CursorField } from '../../../infrastructure/paging/index.js';
import { HOUR, SECOND } from '../../../infrastructure/time/index.js';
import { mayManage, ROLE_NAMES } from '../roles.js';
import { UserAdministrationService } from '../users/user-administration.service.js';
import { GRANTED_ROLES } from '../access-grant.entity.js';
import { CreateAccessGrantRequest } from './access-grants.dto.js';
import type { ListedGrant } from './access-grants.repository.js';
import { AccessGrantsService } from './access-grants.service.js';
import { USER_PERMISSIONS } from '../dashboard-users.capability.js';

const GRANTS = { title: 'Access grants', path: '/dashboard/access-grants' };

class GrantsQuery {
  @CursorField('The position of the last grant before the page.')
  cursor?: string;
}

@Controller('dashboard/access-grants')
class GrantsPage extends ListPage(USER_PERMISSIONS.listAccessGrants) {
  @Inject() private readonly grants!: AccessGrantsService;

  describe({ actor, query }: PageVisit): ListDescription<ListedGrant> {
    return {
      title: GRANTS.title,
      parent: { title: 'Users', path: '/dashboard/users' },
      about: 'Users who have, or had, a higher role for a limited time. Active grants come first.',
      actions: (
        <ButtonLink permission={USER_PERMISSIONS.createAccessGrant} to={`${GRANTS.path}/new`}>
          Grant a role
        </ButtonLink>
      ),
      messages: {
        granted: 'The user has the role from now on.',
        revoked:
          'The grant was revoked. The user has their own role again, unless another grant is in force.',
      },
      rows: (_, limit) =>
        this.grants.page(actor, { ...queryFrom(GrantsQuery, { cursor: query['cursor'] }), limit }),
      columns: [
        { title: 'User', kind: 'main', cell: ({ email }) => email },
        { title: 'Role', kind: 'word', cell: ({ role }) => ROLE_NAMES[role] },
        { title: 'Status', kind: 'state', cell: (grant) => <Status grant={grant} /> },
        { title: 'Ends', kind: 'time', isOnDeskOnly: true, cell: endOf },
        { title: 'Reason', kind: 'text', isOnDeskOnly: true, cell: ({ reason }) => reason },
        { title: 'Granted by', kind: 'user', isOnDeskOnly: true, cell: ({ createdBy }) => createdBy },
        { title: 'Granted', kind: 'time', isOnWideOnly: true, cell: ({ createdAt }) => createdAt },
        actionColumn({
          permission: USER_PERMISSIONS.revokeAccessGrant,
          label: 'Revoke',
          to: ({ id, active, role }) =>
            active && mayManage(actor, role) ? `${GRANTS.path}/${id}/revoke` : undefined,
          of: ({ email }) => `the role of ${email}`,
        }),
      ],
      empty: {
        title: 'No access grants yet',
        text: 'Give a user a higher role for a limited time, such as for a task or while a colleague is away.',
      },
    };
  }
}

const endOf = ({ revokedAt, expiresAt }: ListedGrant): Date => revokedAt ?? expiresAt;

function Status({ grant }: { readonly grant: ListedGrant }): VNode {
  const { active, revokedAt } = grant;
  return (
    <>
      <Badge tone={active ? 'good' : 'soft'}>{active ? 'Active' : revokedAt ? 'Revoked' : 'Expired'}</Badge>
      <span class="on-phone">
        {' '}
        until <Moment time={endOf(grant)} />
      </span>
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
/** Users of whom one is chosen. More would make the page too large. */
const MAX_CHOICES = 200;

@Controller('dashboard/access-grants/new')
class NewGrantPage extends FormPage(USER_PERMISSIONS.createAccessGrant, CreateAccessGrantRequest) {
  @Inject() private readonly grants!: AccessGrantsService;
  @Inject() private readonly users!: UserAdministrationService;

  /** @param visit.query `email`: the user whom a link to this page chose */
  async describe({ actor, query }: PageVisit): Promise<FormDescription<CreateAccessGrantRequest>> {
    const users = (await this.users.list(actor)).filter(
      ({ id, role, disabledAt }) => id !== actor.userId && role !== 'owner' && disabledAt === null,
    );
    const roles = GRANTED_ROLES.filter((role) => mayManage(actor, role)).toReversed();
    return {
      title: 'Grant a role for a limited time',
      parent: GRANTS,
      values: { email: query['email'], role: 'admin', expires_in: ONE_DAY },
      fields: (
        <>
          {users.length <= MAX_CHOICES ? (
            <SelectField
              name="email"
              label="User"
              hint="You cannot choose owners, who have all rights already, disabled users, or yourself."
              isWhole
              options={[
                { value: '', label: 'Choose a user' },
                ...users.map(({ name, email }) => ({ value: email, label: `${name} (${email})` })),
              ]}
            />
          ) : (
            <TextField
              name="email"
              label="User"
              hint="The email address of a user of your organization. You cannot choose yourself."
            />
          )}
          <SelectField
            name="role"
            label="Role"
            options={roles.map((value) => ({ value, label: ROLE_NAMES[value] }))}
          />
          <SelectField
            name="expires_in"
            label="For"
            hint="You can revoke the role earlier."
            options={LIFETIMES}
          />
          <TextField
            name="reason"
            label="Reason"
            hint="For later review, such as “Covers for Grace this week”"
          />
        </>
      ),
      button: 'Grant role',
      perform: (request) => this.grants.create(actor, request),
      next: `${GRANTS.path}?done=granted`,
    };
  }
}

@Controller('dashboard/access-grants/:id/revoke')
class RevokeGrantPage extends ConfirmPage(USER_PERMISSIONS.revokeAccessGrant) {
  @Inject() private readonly grants!: AccessGrantsService;

  async describe({ actor, params: { id } }: PageVisit<'id'>): Promise<Confirmation> {
    const { email, role, expiresAt } = await this.grants.get(actor, id);
    return {
      title: `Revoke the role of ${email}?`,
      parent: GRANTS,
      ...UNCHANGEABLE,
      text: (
        <p>
          The user has the role {ROLE_NAMES[role]} until <Moment time={expiresAt} />. If you revoke it, they
          immediately have their own role again, unless another grant is in force.
        </p>
      ),
      button: 'Revoke role',
      perform: () => this.grants.revoke(actor, id),
      next: `${GRANTS.path}?done=revoked`,
    };
  }
}

export const ACCESS_GRANT_PAGES = [GrantsPage, NewGrantPage, RevokeGrantPage];
