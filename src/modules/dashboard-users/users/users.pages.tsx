import type { VNode } from 'preact';
import {
  DASHBOARD_ROLES,
  type DashboardActor,
  type DashboardRole,
} from '../../../infrastructure/auth/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  confirmationPage,
  Details,
  Done,
  EmptyState,
  Filter,
  FilterChoice,
  FilterForm,
  Form,
  FormProblem,
  Moment,
  Notice,
  Pagination,
  RelativeTime,
  Seen,
  Results,
  SelectField,
  Table,
  TextField,
  type Page,
  type ShownValues,
  usePage,
  type Tone,
  isolated,
  SubmitButton,
} from '../../../infrastructure/pages/index.js';
import { maxLengthOf } from '../../../infrastructure/validation/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import type { AccessGrantResponse } from '../access-grants/access-grants.dto.js';
import type { InvitationEmail } from '../emails/emails.repository.js';
import { mayManage, ROLE_NAMES, ROLE_RIGHTS, roleInWords } from '../roles.js';
import { INVITATION_LIFETIME } from './dashboard-user.entity.js';
import { CreateUserRequest, UpdateUserRequest, type UserResponse } from './users.dto.js';

export const USERS_PATH = '/dashboard/users';
const INVITE_PATH = `${USERS_PATH}/invitations/new`;
const INVITATION_DAYS = INVITATION_LIFETIME / DAY;
const USERS = { title: 'Users', path: USERS_PATH };

export function userPath(id: string, ...action: readonly string[]): string {
  return [USERS_PATH, encodeURIComponent(id), ...action].join('/');
}

type UserStatus = 'active' | 'invited' | 'disabled';
export const STATUSES: Readonly<Record<UserStatus, readonly [name: string, tone: Tone]>> = {
  active: ['Active', 'soft'],
  invited: ['Invited', 'good'],
  disabled: ['Disabled', 'warn'],
};

export function statusOf({ disabled, invitation_pending: invited }: UserResponse): UserStatus {
  return disabled ? 'disabled' : invited ? 'invited' : 'active';
}

interface UsersPageProps {
  readonly users: readonly UserResponse[];
  /** The number of users that match the filters, on all pages. */
  readonly found: number;
  readonly all: number;
  /** The temporary roles of users, by their IDs. */
  readonly granted: ReadonlyMap<string, DashboardRole>;
  readonly lastLogins: ReadonlyMap<string, Date>;
  readonly invitations: ReadonlyMap<string, InvitationEmail>;
  readonly nextCursor: string | null;
}

export function usersPage(props: UsersPageProps): Page {
  const { users, found, all, granted, lastLogins, invitations, nextCursor } = props;
  return {
    title: USERS.title,
    actions: (
      <>
        <Allowed operation="listAccessGrants">
          <ButtonLink to="/dashboard/access-grants" kind="second">
            Access grants
          </ButtonLink>
        </Allowed>
        <Allowed operation="createUser">
          <ButtonLink to={INVITE_PATH}>Invite user</ButtonLink>
        </Allowed>
      </>
    ),
    content: (
      <>
        <Done messages={{ remove: 'The user was removed.' }} />
        <UserFilters />
        <Results>
          {found === 0 ? (
            <EmptyState title="No user matches the filters">
              <p>Search for a part of the name or email address, or clear the filters.</p>
            </EmptyState>
          ) : (
            <>
              <FailedInvitations users={users} invitations={invitations} />
              <Table
                caption="Users"
                rows={users}
                keyOf={({ id }) => id}
                columns={[
                  { title: 'Name', kind: 'main', cell: ({ name }) => name, to: ({ id }) => userPath(id) },
                  { title: 'Email', kind: 'main', cell: ({ email }) => email },
                  {
                    title: 'Role',
                    kind: 'id',
                    cell: ({ id, role }) => rolesInWords(role, granted.get(id)),
                  },
                  {
                    title: 'Status',
                    kind: 'status',
                    cell: (user) => <Status user={user} invitation={invitations.get(user.id)} />,
                  },
                  { title: 'Two-factor', kind: 'short', cell: (user) => secondFactorOf(user) },
                  {
                    title: 'Last login',
                    kind: 'time',
                    cell: (user) => <LastLogin user={user} time={lastLogins.get(user.id)} />,
                  },
                ]}
              />
              <p class="count-of">{found === all ? counted(all) : `${found} of ${counted(all)}`}</p>
              <Pagination nextCursor={nextCursor} />
            </>
          )}
        </Results>
      </>
    ),
  };
}

/** Returns for example: Viewer (temporarily Admin). */
function rolesInWords(role: DashboardRole, granted: DashboardRole | undefined): string {
  return granted === undefined
    ? ROLE_NAMES[role]
    : `${ROLE_NAMES[role]} (temporarily ${ROLE_NAMES[granted]})`;
}

const secondFactorOf = (user: UserResponse): string => (user.two_factor_enabled ? 'On' : 'Off');

const counted = (users: number): string => (users === 1 ? '1 user' : `${users} users`);

function UserFilters(): VNode {
  return (
    <FilterForm>
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
    </FilterForm>
  );
}

interface InvitedUser {
  readonly user: UserResponse;
  readonly invitation: InvitationEmail | undefined;
}

function Status({ user, invitation }: InvitedUser): VNode {
  const [name, tone] = STATUSES[statusOf(user)];
  return hasFailed({ user, invitation }) ? (
    <Badge tone="bad">Not delivered</Badge>
  ) : (
    <Badge tone={tone}>{name}</Badge>
  );
}

function hasFailed({ user, invitation }: InvitedUser): boolean {
  return (
    statusOf(user) === 'invited' && (invitation?.outcome === 'refused' || invitation?.outcome === 'expired')
  );
}

/** What replies of mail servers mean, by their enhanced code (RFC 3463); or, without it, by their code. */
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

function FailedInvitations(props: Pick<UsersPageProps, 'users' | 'invitations'>): VNode | null {
  const failed = props.users.flatMap((user) => {
    const invitation = props.invitations.get(user.id);
    return invitation && hasFailed({ user, invitation }) ? [{ user, invitation }] : [];
  });
  return failed.length === 0 ? null : (
    <Notice kind="bad">
      {failed.map(({ user, invitation }) => (
        <p key={user.id}>
          <a href={userPath(user.id)}>{user.email}</a>: {problemOf(invitation)}
        </p>
      ))}
    </Notice>
  );
}

/** How long logins are remembered. */
const REMEMBERED_TIME = 365 * DAY;

function LastLogin(props: { readonly user: UserResponse; readonly time: Date | undefined }): VNode {
  if (props.time) return <RelativeTime time={props.time} />;
  const isOld = usePage().now.getTime() - props.user.created_at.getTime() > REMEMBERED_TIME;
  return <>{isOld && !props.user.invitation_pending ? 'Over a year ago' : 'Never'}</>;
}

function roleOptions(roles: readonly DashboardRole[]) {
  return roles.map((value) => ({ value, label: ROLE_NAMES[value] }));
}

interface UserPageProps {
  readonly user: UserResponse;
  readonly actor: DashboardActor;
  /** The access grant in force, if the user has one. */
  readonly grant: AccessGrantResponse | undefined;
  readonly lastLogin: Date | undefined;
  readonly invitation: InvitationEmail | undefined;
  /** Whether the user is linked to an account at an identity provider. */
  readonly isLinked: boolean;
}

export function userPage(props: UserPageProps): Page {
  const { user, actor, grant, lastLogin, invitation, isLinked } = props;
  const problem = invitation && statusOf(user) === 'invited' ? problemOf(invitation) : null;
  return {
    title: user.name,
    parent: USERS,
    actions: mayManage(actor, user.role) ? <UserButtons {...props} /> : null,
    content: (
      <>
        <Done
          messages={{
            invited: 'The user was invited. They get an email with a link.',
            'invited-again': 'The invitation was sent again. Only the link in the new email works.',
            changed: 'The user was changed.',
            disable: 'The user was disabled. All of their logins and devices were logged out.',
            enable: 'The user was enabled and can log in again.',
            unlink: 'The user was unlinked. The next login through single sign-on links them again.',
          }}
        />
        <FormProblem />
        {problem ? <Notice kind="bad">{problem}</Notice> : null}
        <Details
          entries={[
            ['Email', user.email],
            ['Status', <Status key="status" user={user} invitation={invitation} />],
            ['Role', roleInWords(user.role)],
            [
              'Temporary role',
              grant ? (
                <>
                  {ROLE_NAMES[grant.role]} until <Moment time={grant.expires_at} />,{' '}
                  <a href="/dashboard/access-grants">see access grants</a>
                </>
              ) : null,
            ],
            ['Two-factor authentication', secondFactorOf(user)],
            ['Single sign-on', isLinked ? 'Linked to an account' : null],
            ['Last login', <LastLogin key="login" user={user} time={lastLogin} />],
            ['Added', <Added key="added" user={user} />],
          ]}
        />
        {user.invitation_pending ? (
          <p>
            The link in the invitation is valid for {INVITATION_DAYS} days. When you resend the invitation, a
            new link replaces it.
          </p>
        ) : null}
        {user.id === actor.userId ? (
          <p>
            This is you. Change your password and your second factor in <a href="/account">your account</a>.
          </p>
        ) : null}
        {mayManage(actor, user.role) ? null : <p>Only owners can change an owner.</p>}
      </>
    ),
  };
}

/** The audit log says who did it. */
function Added({ user }: { readonly user: UserResponse }): VNode {
  return (
    <>
      <Moment time={user.created_at} />
      {' · '}
      <a href="/dashboard/audit-log?action=user.add">See who added users</a>
      {' · '}
      <a href={`/dashboard/audit-log?actor=${encodeURIComponent(user.email)}`}>See what this user did</a>
    </>
  );
}

function UserButtons({ user, actor, isLinked }: UserPageProps): VNode {
  if (user.id === actor.userId)
    return (
      <Allowed operation="updateUser">
        <ButtonLink to={userPath(user.id, 'change')}>Change name</ButtonLink>
      </Allowed>
    );
  const [toggle, label] = user.disabled ? ['enable', 'Enable'] : ['disable', 'Disable'];
  return (
    <>
      {statusOf(user) === 'invited' ? (
        <Allowed operation="createUser">
          <Form action={userPath(user.id, 'invitation')}>
            <button>Resend invitation</button>
          </Form>
        </Allowed>
      ) : null}
      <Allowed operation="updateUser">
        <ButtonLink to={userPath(user.id, 'change')}>Change name or role</ButtonLink>
      </Allowed>
      {user.role === 'owner' ? null : (
        <Allowed operation="createAccessGrant">
          <ButtonLink
            to={`/dashboard/access-grants/new?email=${encodeURIComponent(user.email)}`}
            kind="second"
          >
            Grant a temporary role
          </ButtonLink>
        </Allowed>
      )}
      <Allowed operation="updateUser">
        <ButtonLink to={userPath(user.id, toggle)} kind={user.disabled ? 'second' : 'danger'}>
          {label}
        </ButtonLink>
      </Allowed>
      {isLinked ? (
        <Allowed operation="updateUser">
          <ButtonLink to={userPath(user.id, 'unlink')} kind="second">
            Unlink single sign-on
          </ButtonLink>
        </Allowed>
      ) : null}
      <Allowed operation="deleteUser">
        <ButtonLink to={userPath(user.id, 'remove')} kind="danger">
          Remove
        </ButtonLink>
      </Allowed>
    </>
  );
}

export function inviteUserPage(actor: DashboardActor): Page {
  return {
    title: 'Invite a user',
    parent: USERS,
    content: (
      <>
        <FormProblem />
        <p>
          The user gets an email with a link to set a password, which is valid for {INVITATION_DAYS} days. If
          your organization has single sign-on for the domain of the address, the user can also log in through
          it, at any time.
        </p>
        <Form action={INVITE_PATH}>
          <TextField name="email" label="Email address" type="email" />
          <TextField name="name" label="Name" maxLength={maxLengthOf(CreateUserRequest, 'name')} />
          <RoleField actor={actor} value="viewer" />
          <SubmitButton>Send invitation</SubmitButton>
        </Form>
        <RoleRights />
      </>
    ),
  };
}

function RoleField({ actor, value }: { readonly actor: DashboardActor; readonly value: string }): VNode {
  const roles = DASHBOARD_ROLES.filter((role) => mayManage(actor, role)).toReversed();
  return <SelectField name="role" label="Role" options={roleOptions(roles)} value={value} />;
}

function RoleRights(): VNode {
  return (
    <>
      <h2>Roles</h2>
      <p>Each role may also do what the roles above it in this list may do.</p>
      <Details
        entries={DASHBOARD_ROLES.toReversed().map((role) => [ROLE_NAMES[role], ROLE_RIGHTS[role]] as const)}
      />
    </>
  );
}

export function changeUserPage(user: UserResponse, actor: DashboardActor): Page {
  const isSelf = user.id === actor.userId;
  return {
    title: `Change ${isolated(user.name)}`,
    parent: { title: user.name, path: userPath(user.id) },
    content: (
      <>
        <FormProblem />
        <Form action={userPath(user.id, 'change')}>
          <Seen values={changeableOf(user)} />
          <TextField
            name="name"
            label="Name"
            value={user.name}
            maxLength={maxLengthOf(UpdateUserRequest, 'name')}
          />
          {isSelf ? (
            <p>You cannot change your own role. Ask another admin or owner.</p>
          ) : (
            <>
              <RoleField actor={actor} value={user.role} />
              <p>With a new role, the user has to approve their devices again.</p>
            </>
          )}
          <SubmitButton>Save changes</SubmitButton>
        </Form>
        {isSelf ? null : <RoleRights />}
      </>
    ),
  };
}

/** What the form changes. */
export const changeableOf = ({ name, role }: UserResponse): ShownValues => ({
  Name: name,
  Role: ROLE_NAMES[role],
});

export type UserAction = 'disable' | 'enable' | 'unlink' | 'remove';

const ACTIONS: Readonly<Record<UserAction, { readonly word: string; readonly effect: string }>> = {
  disable: {
    word: 'Disable',
    effect:
      'The user is logged out everywhere, their devices lose access, and they cannot log in until you enable them again. ' +
      'Their name, role and history stay.',
  },
  enable: { word: 'Enable', effect: 'The user can log in again with their password, in their role.' },
  unlink: {
    word: 'Unlink',
    effect:
      'The user is logged out everywhere. The next login through single sign-on with their email address links them to the ' +
      'account that they use then, such as a new one at the identity provider.',
  },
  remove: {
    word: 'Remove',
    effect:
      'The user is logged out everywhere and loses their access grants and devices. This cannot be undone. What they did ' +
      'stays in the audit log. To block the user for a while only, disable them.',
  },
};

export function confirmUserPage(user: UserResponse, action: UserAction): Page {
  const { word, effect } = ACTIONS[action];
  return confirmationPage({
    title: `${word} ${isolated(user.name)}?`,
    parent: { title: user.name, path: userPath(user.id) },
    action: userPath(user.id, action),
    button: `${word} user`,
    isDestructive: action === 'disable' || action === 'remove',
    children: (
      <>
        <p>
          {user.email}, {ROLE_NAMES[user.role]}
        </p>
        <p>{effect}</p>
      </>
    ),
  });
}
