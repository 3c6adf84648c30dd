import { Controller, Get, Inject, Post } from '@nestjs/common';
import type { VNode } from 'preact';
import {
  DASHBOARD_ROLES,
  type DashboardActor,
  type DashboardPermission,
  type DashboardRole,
} from '../../../infrastructure/auth/index.js';
import type { Check } from '../../../infrastructure/database/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  ConfirmPage,
  DashboardAction,
  DashboardPage,
  Details,
  Filter,
  FilterChoice,
  Form,
  FormPage,
  FormProblem,
  isolated,
  ListPage,
  Moment,
  Notice,
  SelectField,
  submitted,
  TextField,
  usePage,
  Visit,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type PageResponse,
  type PageVisit,
  type ShownValues,
  type Tone,
} from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { AccessGrantsService, grantInForce } from '../access-grants/access-grants.service.js';
import { EmailsRepository, type InvitationEmail } from '../emails/emails.repository.js';
import { mayManage, ROLE_NAMES, ROLE_RIGHTS, roleInWords } from '../roles.js';
import { CreateUserRequest, UpdateUserRequest, UsersQuery } from '../users/users.dto.js';
import {
  INVITATION_LIFETIME,
  statusOf,
  type DashboardUser,
  type UserStatus,
} from '../users/dashboard-user.entity.js';
import { UserAdministrationService, UserLogins } from '../users/user-administration.service.js';
import { USER_PERMISSIONS } from '../dashboard-users.capability.js';

const INVITATION_DAYS = INVITATION_LIFETIME / DAY;
const USERS = { title: 'Users', path: '/dashboard/users' };

function userPath(id: string, ...action: readonly string[]): string {
  return [USERS.path, encodeURIComponent(id), ...action].join('/');
}

const STATUSES: Readonly<Record<UserStatus, readonly [name: string, tone: Tone]>> = {
  active: ['Active', 'good'],
  invited: ['Invited', 'soft'],
  disabled: ['Disabled', 'warn'],
};

/** A user and what the list shows besides. */
interface ListedUser extends DashboardUser {
  readonly invitation: InvitationEmail | undefined;
  readonly lastLogin: Date | undefined;
  /** The role of an active access grant. */
  readonly granted: DashboardRole | undefined;
}

/** One form for the buttons of all rows: a form in each row would double the size of the page. */
const FORM = 'invitations';

@Controller('dashboard/users')
class UsersPage extends ListPage(USER_PERMISSIONS.listUsers, UsersQuery) {
  @Inject() private readonly users!: UserAdministrationService;
  @Inject() private readonly grants!: AccessGrantsService;
  @Inject() private readonly logins!: UserLogins;
  @Inject() private readonly emails!: EmailsRepository;

  describe({ actor }: PageVisit): ListDescription<ListedUser, UsersQuery> {
    return {
      title: USERS.title,
      actions: (
        <>
          <ButtonLink
            permission={USER_PERMISSIONS.listAccessGrants}
            to="/dashboard/access-grants"
            kind="second"
          >
            Access grants
          </ButtonLink>
          <ButtonLink permission={USER_PERMISSIONS.createUser} to={`${USERS.path}/invitations/new`}>
            Invite user
          </ButtonLink>
        </>
      ),
      messages: { remove: 'The user was removed.' },
      filters: (
        <>
          <Filter name="search" type="search" label="Name or email" />
          <FilterChoice name="role" label="Role" options={roleOptions(DASHBOARD_ROLES)} />
          <FilterChoice
            name="status"
            label="Status"
            options={Object.entries(STATUSES).map(([value, [label]]) => ({ value, label }))}
          />
          <FilterChoice
            name="two_factor"
            label="Two-factor"
            options={[
              { value: 'on', label: 'Two-factor: on' },
              { value: 'off', label: 'Two-factor: off' },
            ]}
          />
        </>
      ),
      rows: async (query, limit) => {
        const { data: users, count, total, next_cursor } = await this.users.page(actor, query, limit);
        const data = await this.withDetails(users);
        return {
          data,
          next_cursor,
          above: (
            <>
              {failedInvitations(data)}
              <Form id={FORM} />
            </>
          ),
          below: <p class="count-of">{count === total ? counted(total) : `${count} of ${counted(total)}`}</p>,
        };
      },
      columns: [
        { title: 'Name', kind: 'main', cell: ({ name }) => name, to: ({ id }) => userPath(id) },
        { title: 'Email', kind: 'address', isSecondLine: true, cell: ({ email }) => email },
        { title: 'Role', kind: 'short', cell: rolesInWords },
        { title: 'Status', kind: 'state', cell: statusBadge },
        { title: 'Two-factor', kind: 'word', isOnDeskOnly: true, cell: secondFactorOf },
        {
          title: 'Last login',
          kind: 'time',
          isOnDeskOnly: true,
          cell: (user) => <LastLogin user={user} time={user.lastLogin} isInColumn />,
        },
        {
          title: 'Actions',
          kind: 'buttons',
          cell: (user) =>
            statusOf(user) === 'invited' && mayManage(actor, user.role, user.granted) ? (
              <Allowed permission={USER_PERMISSIONS.createUser}>
                <button class="second" form={FORM} formaction={userPath(user.id, 'invitation')}>
                  Resend
                  <span class="unseen">{` the invitation of ${user.email}`}</span>
                </button>
              </Allowed>
            ) : null,
        },
      ],
      empty: {
        title: 'No user matches the filters',
        text: 'Search for a part of the name or email address, or clear the filters.',
      },
    };
  }

  private async withDetails(users: readonly DashboardUser[]): Promise<ListedUser[]> {
    const ids = users.map(({ id }) => id);
    const [lastLogins, invitations, grants] = await Promise.all([
      this.logins.lastLogins(ids),
      this.emails.invitations(ids),
      this.grants.active(ids),
    ]);
    return users.map((user) => ({
      ...user,
      lastLogin: lastLogins.get(user.id),
      invitation: invitations.get(user.id),
      granted: grantInForce(grants, user)?.role,
    }));
  }
}

/** Returns for example: Viewer (temporarily Admin). */
function rolesInWords({ role, granted }: ListedUser): string {
  return granted === undefined
    ? ROLE_NAMES[role]
    : `${ROLE_NAMES[role]} (temporarily ${ROLE_NAMES[granted]})`;
}

const secondFactorOf = (user: DashboardUser): string => (user.totpEnabledAt ? 'On' : 'Off');

const counted = (count: number): string => (count === 1 ? '1 user' : `${count} users`);

type InvitedUser = DashboardUser & Pick<ListedUser, 'invitation'>;

function statusBadge(user: InvitedUser): VNode {
  const [name, tone] = STATUSES[statusOf(user)];
  return hasFailed(user) ? <Badge tone="bad">Not delivered</Badge> : <Badge tone={tone}>{name}</Badge>;
}

function hasFailed(user: InvitedUser): boolean {
  const { outcome } = user.invitation ?? {};
  return statusOf(user) === 'invited' && (outcome === 'refused' || outcome === 'expired');
}

/** The meaning of replies of mail servers, by their enhanced code (RFC 3463), or else by their code. */
const REFUSALS: readonly (readonly [reply: RegExp, meaning: string])[] = [
  [/ 5\.1\.(?:[1236]|10)$/, 'the address does not exist'],
  [/^55[013]$/, 'the address may be misspelled'],
  [/ 5\.2\.2|^552/, 'the mailbox is full'],
  [/ 5\.2\./, 'the mailbox is not active'],
  [/ 5\.7\./, 'it does not accept emails from this service'],
];

/** Returns what became of an invitation, unless it was sent or is about to be sent. */
function problemOf({ outcome, reply, attempts, dueAt }: InvitationEmail): VNode | null {
  const replied = reply === null ? 'could not be reached' : `replied ${reply}`;
  if (outcome === 'refused') {
    const meaning = REFUSALS.find(([pattern]) => pattern.test(reply ?? ''))?.[1] ?? 'it gave no reason';
    return <>{`The mail server refused the invitation: ${meaning} (${reply ?? 'invalid address'}).`}</>;
  }
  if (outcome === 'expired')
    return (
      <>{`The invitation could not be delivered in ${INVITATION_DAYS} days: the mail server ${replied}.`}</>
    );
  if (outcome !== null || (attempts < 2 && reply === null)) return null;
  return (
    <>
      {`The invitation is not delivered yet, because the mail server ${replied}. The next attempt is at `}
      <Moment time={dueAt} />.
    </>
  );
}

function failedInvitations(users: readonly ListedUser[]): VNode | null {
  const failed = users.filter(hasFailed);
  return failed.length === 0 ? null : (
    <Notice kind="bad">
      {failed.map(({ id, email, invitation }) => (
        <p key={id}>
          <a href={userPath(id)}>{email}</a>: {invitation && problemOf(invitation)}
        </p>
      ))}
    </Notice>
  );
}

const REMEMBERED_TIME = 365 * DAY;

interface LastLoginProps {
  readonly user: DashboardUser;
  readonly time: Date | undefined;
  readonly isInColumn?: boolean;
}

function LastLogin({ user, time, isInColumn = false }: LastLoginProps): VNode {
  if (time) return <Moment time={time} isInColumn={isInColumn} />;
  const { createdAt, passwordHash } = user;
  const isOld = usePage().now.getTime() - createdAt.getTime() > REMEMBERED_TIME;
  return <>{isOld && passwordHash !== null ? 'Over a year ago' : 'Never'}</>;
}

function roleOptions(roles: readonly DashboardRole[]) {
  return roles.map((value) => ({ value, label: ROLE_NAMES[value] }));
}

@Controller('dashboard/users/:id')
class UserPage {
  constructor(
    private readonly users: UserAdministrationService,
    private readonly grants: AccessGrantsService,
    private readonly logins: UserLogins,
    private readonly emails: EmailsRepository,
  ) {}

  @Get()
  @DashboardPage(USER_PERMISSIONS.listUsers)
  async show(@Visit() { actor, params }: PageVisit<'id'>): Promise<PageResponse> {
    const user = await this.users.get(actor, params.id);
    const [grants, lastLogins, invitations, isLinked] = await Promise.all([
      this.grants.active([user.id]),
      this.logins.lastLogins([user.id]),
      this.emails.invitations([user.id]),
      this.users.isLinked(user.id),
    ]);
    const grant = grantInForce(grants, user);
    const isManaged = mayManage(actor, user.role, grant?.role);
    const invitation = invitations.get(user.id);
    const problem = invitation && statusOf(user) === 'invited' ? problemOf(invitation) : null;
    return {
      title: user.name,
      parent: USERS,
      actions: isManaged ? userButtons(user, actor, isLinked) : null,
      messages: {
        invited: 'The user was invited. They get an email with a link.',
        'invited-again': 'The invitation was sent again. Only the link in the new email works.',
        changed: 'The user was changed.',
        disable: 'The user was disabled. All of their logins and devices were logged out.',
        enable: 'The user was enabled and can log in again.',
        unlink: 'The user was unlinked. The next login through single sign-on links them again.',
      },
      content: (
        <>
          <FormProblem />
          {problem ? <Notice kind="bad">{problem}</Notice> : null}
          <Details
            entries={[
              ['Email', user.email],
              ['Status', statusBadge({ ...user, invitation })],
              ['Role', roleInWords(user.role)],
              [
                'Temporary role',
                grant ? (
                  <>
                    {ROLE_NAMES[grant.role]} until <Moment time={grant.expiresAt} />,{' '}
                    <a href="/dashboard/access-grants">see access grants</a>
                  </>
                ) : null,
              ],
              ['Two-factor authentication', secondFactorOf(user)],
              ['Single sign-on', isLinked ? 'Linked to an account' : null],
              ['Last login', <LastLogin key="login" user={user} time={lastLogins.get(user.id)} />],
              ['Added', addedBy(user)],
            ]}
          />
          {user.passwordHash === null ? (
            <p>
              The link in the invitation is valid for {INVITATION_DAYS} days. When you resend the invitation,
              a new link replaces it.
            </p>
          ) : null}
          {user.id === actor.userId ? (
            <p>
              This is you. Change your password and your second factor in <a href="/account">your account</a>.
            </p>
          ) : null}
          {isManaged ? null : <p>Only owners can change an owner.</p>}
        </>
      ),
    };
  }

  @Post('invitation')
  @DashboardAction(USER_PERMISSIONS.createUser)
  inviteAgain(@Visit() visit: PageVisit<'id'>): Promise<PageResponse> {
    const { id } = visit.params;
    return submitted(
      async () => {
        await this.users.inviteAgain(visit.actor, id);
        return { redirectTo: `${userPath(id)}?done=invited-again` };
      },
      () => this.show(visit),
    );
  }
}

/** The audit log says who did it. */
function addedBy({ createdAt, email }: DashboardUser): VNode {
  return (
    <>
      <Moment time={createdAt} />
      {' · '}
      <a href={`/dashboard/audit-log?target=${encodeURIComponent(email)}`}>
        See who added or changed this user
      </a>
      {' · '}
      <a href={`/dashboard/audit-log?actor=${encodeURIComponent(email)}`}>See what this user did</a>
    </>
  );
}

/** @param isLinked whether the user is linked to an account at an identity provider */
function userButtons(user: DashboardUser, actor: DashboardActor, isLinked: boolean): VNode {
  if (user.id === actor.userId)
    return (
      <ButtonLink permission={USER_PERMISSIONS.updateUser} to={userPath(user.id, 'change')}>
        Change name
      </ButtonLink>
    );
  const [toggle, label] = user.disabledAt ? ['enable', 'Enable'] : ['disable', 'Disable'];
  return (
    <>
      {statusOf(user) === 'invited' ? (
        <Allowed permission={USER_PERMISSIONS.createUser}>
          <Form action={userPath(user.id, 'invitation')}>
            <button>Resend invitation</button>
          </Form>
        </Allowed>
      ) : null}
      <ButtonLink permission={USER_PERMISSIONS.updateUser} to={userPath(user.id, 'change')}>
        Change name or role
      </ButtonLink>
      {user.role === 'owner' ? null : (
        <ButtonLink
          permission={USER_PERMISSIONS.createAccessGrant}
          to={`/dashboard/access-grants/new?email=${encodeURIComponent(user.email)}`}
          kind="second"
        >
          Grant a temporary role
        </ButtonLink>
      )}
      <ButtonLink
        permission={USER_PERMISSIONS.updateUser}
        to={userPath(user.id, toggle)}
        kind={user.disabledAt ? 'second' : 'danger'}
      >
        {label}
      </ButtonLink>
      {isLinked ? (
        <ButtonLink permission={USER_PERMISSIONS.updateUser} to={userPath(user.id, 'unlink')} kind="second">
          Unlink single sign-on
        </ButtonLink>
      ) : null}
      <ButtonLink permission={USER_PERMISSIONS.deleteUser} to={userPath(user.id, 'remove')} kind="danger">
        Remove
      </ButtonLink>
    </>
  );
}

@Controller('dashboard/users/invitations/new')
class InviteUserPage extends FormPage(USER_PERMISSIONS.createUser, CreateUserRequest) {
  @Inject() private readonly users!: UserAdministrationService;

  describe({ actor }: PageVisit): FormDescription<CreateUserRequest> {
    return {
      title: 'Invite a user',
      parent: USERS,
      text: (
        <p>
          The user gets an email with a link to set a password, which is valid for {INVITATION_DAYS} days. If
          your organization has single sign-on for the domain of the address, the user can also log in through
          it, at any time.
        </p>
      ),
      values: { role: 'viewer' },
      fields: (
        <>
          <TextField name="email" label="Email address" />
          <TextField name="name" label="Name" />
          {roleField(actor)}
        </>
      ),
      button: 'Send invitation',
      after: ROLES_IN_WORDS,
      perform: async (request) => {
        const { id } = await this.users.invite(actor, request);
        return { redirectTo: `${userPath(id)}?done=invited` };
      },
    };
  }
}

function roleField(actor: DashboardActor): VNode {
  const roles = DASHBOARD_ROLES.filter((role) => mayManage(actor, role)).toReversed();
  return <SelectField name="role" label="Role" options={roleOptions(roles)} />;
}

const ROLES_IN_WORDS = (
  <>
    <h2>Roles</h2>
    <p>Each role may also do what the roles above it in this list may do.</p>
    <Details
      entries={DASHBOARD_ROLES.toReversed().map((role) => [ROLE_NAMES[role], ROLE_RIGHTS[role]] as const)}
    />
  </>
);

@Controller('dashboard/users/:id/change')
class ChangeUserPage extends FormPage(USER_PERMISSIONS.updateUser, UpdateUserRequest) {
  @Inject() private readonly users!: UserAdministrationService;

  async describe({
    actor,
    params,
  }: PageVisit<'id'>): Promise<FormDescription<UpdateUserRequest, DashboardUser>> {
    const user = await this.users.get(actor, params.id);
    const isSelf = user.id === actor.userId;
    return {
      title: `Change ${isolated(user.name)}`,
      parent: { title: user.name, path: userPath(user.id) },
      subject: user,
      shows: versionOf,
      values: { name: user.name, role: user.role },
      fields: (
        <>
          <TextField name="name" label="Name" required />
          {isSelf ? (
            <p>You cannot change your own role. Ask another admin or owner.</p>
          ) : (
            <>
              {roleField(actor)}
              <p>
                With a new role, the user has to approve their devices again, and loses their access grants.
              </p>
            </>
          )}
        </>
      ),
      button: 'Save changes',
      after: isSelf ? null : ROLES_IN_WORDS,
      perform: (request, check) => this.users.update(actor, user.id, request, check),
      next: `${userPath(user.id)}?done=changed`,
    };
  }
}

/** The values that the form changes. */
const versionOf = ({ name, role }: DashboardUser): ShownValues => ({ Name: name, Role: ROLE_NAMES[role] });

interface UserAction {
  readonly verb: string;
  readonly effect: string;
  readonly isDestructive?: boolean;
  readonly perform: (
    users: UserAdministrationService,
    actor: DashboardActor,
    id: string,
    check: Check<DashboardUser>,
  ) => Promise<void>;
}

/** A page that asks before an action on a user. The path of the page and the message after the action have the name of the action. */
function userActionPage(name: string, permission: DashboardPermission, action: UserAction) {
  const { verb, effect, isDestructive = true, perform } = action;
  @Controller(`dashboard/users/:id/${name}`)
  class UserActionPage extends ConfirmPage(permission) {
    @Inject() private readonly users!: UserAdministrationService;

    async describe({ actor, params }: PageVisit<'id'>): Promise<Confirmation<DashboardUser>> {
      const user = await this.users.get(actor, params.id);
      return {
        title: `${verb} ${isolated(user.name)}?`,
        parent: { title: user.name, path: userPath(user.id) },
        subject: user,
        shows: (current) => ({ ...versionOf(current), 'Email address': current.email }),
        text: effect,
        button: `${verb} user`,
        isDestructive,
        perform: (_, check) => perform(this.users, actor, user.id, check),
        next: `${name === 'remove' ? USERS.path : userPath(user.id)}?done=${name}`,
      };
    }
  }
  return UserActionPage;
}

const USER_ACTION_PAGES = [
  userActionPage('disable', USER_PERMISSIONS.updateUser, {
    verb: 'Disable',
    effect:
      'The user is logged out everywhere, loses their access grants and devices, and cannot log in until you enable them again. ' +
      'Their name, role and history stay.',
    perform: (users, actor, id, check) => users.update(actor, id, { disabled: true }, check),
  }),
  userActionPage('enable', USER_PERMISSIONS.updateUser, {
    verb: 'Enable',
    effect: 'The user can log in again with their password, in their role.',
    isDestructive: false,
    perform: (users, actor, id, check) => users.update(actor, id, { disabled: false }, check),
  }),
  userActionPage('unlink', USER_PERMISSIONS.updateUser, {
    verb: 'Unlink',
    effect:
      'The user is logged out everywhere. The next login through single sign-on with their email address links them to the ' +
      'account that they use then, such as a new one at the identity provider. Passkeys that were added after a login through ' +
      'an identity provider that no owner had approved are removed.',
    isDestructive: false,
    perform: (users, actor, id, check) => users.unlink(actor, id, check),
  }),
  userActionPage('remove', USER_PERMISSIONS.deleteUser, {
    verb: 'Remove',
    effect:
      'The user is logged out everywhere and loses their access grants and devices. This cannot be undone. What they did ' +
      'stays in the audit log. To block the user for a while only, disable them.',
    perform: (users, actor, id, check) => users.remove(actor, id, check),
  }),
];

export const USER_PAGES = [UsersPage, InviteUserPage, UserPage, ChangeUserPage, ...USER_ACTION_PAGES];
