import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  confirmationPage,
  dashboardPath,
  Done,
  EmptyState,
  FormProblem,
  Pagination,
  pathWith,
  RelativeTime,
  Results,
  SessionLink,
  Table,
  usePage,
  UserForm,
  type Column,
  type Page,
  type Tone,
} from '../../infrastructure/pages/index.js';
import type { SignInLinkListResponse, SignInLinkResponse } from './sign-in-links.dto.js';

const TITLE = 'Sign-in links';

const STATUSES: Readonly<Record<SignInLinkResponse['status'], readonly [tone: Tone, label: string]>> = {
  pending: ['soft', 'Pending'],
  completed: ['good', 'Completed'],
  failed: ['bad', 'Failed'],
  expired: ['warn', 'Expired'],
  cancelled: ['soft', 'Cancelled'],
};

const FAILURES: Readonly<Record<NonNullable<SignInLinkResponse['failure_reason']>, string>> = {
  denied: 'The merchant denied the sign-in',
  too_many_attempts: 'Too many attempts',
  not_sent: 'The text message was not sent',
};

/** @param found undefined if the query contains no user, or an invalid one */
export function signInLinksPage(found?: SignInLinkListResponse): Page {
  return {
    title: TITLE,
    about: 'Look up a user to see the links of the last week with which they sign in to merchants.',
    content: (
      <>
        <Done
          messages={{
            cancelled: 'The sign-in link was cancelled.',
            ended: 'The sign-in link had ended before it could be cancelled.',
          }}
        />
        <UserForm apply="Show links" />
        <Results>
          <FormProblem />
          {found ? <Links {...found} /> : null}
        </Results>
      </>
    ),
  };
}

function Links({ data, next_cursor: nextCursor }: SignInLinkListResponse): VNode {
  const { environment, query } = usePage();
  const { external_user_id: user = '' } = query;
  if (data.length === 0 && query['cursor'] === undefined)
    return (
      <EmptyState title="This user has no sign-in links">
        <p>
          Links appear here when an agent sends one to the user in the {environment} environment, and stay for
          a week.
        </p>
      </EmptyState>
    );
  return (
    <>
      <Table
        caption="Sign-in links of the user"
        rows={data}
        keyOf={({ id }) => id}
        columns={[
          ...LINK_COLUMNS,
          {
            title: 'Actions',
            kind: 'buttons',
            cell: ({ id, status, merchant }) =>
              status === 'pending' ? (
                <Allowed operation="cancelSignInLink">
                  <ButtonLink
                    to={pathWith(pathOfCancelling(environment, id), { external_user_id: user }, {})}
                    kind="danger"
                    of={`the link for ${merchant.name}`}
                  >
                    Cancel
                  </ButtonLink>
                </Allowed>
              ) : null,
          },
        ]}
      />
      <Pagination nextCursor={nextCursor} />
    </>
  );
}

export const LINK_COLUMNS: readonly Column<SignInLinkResponse>[] = [
  { title: 'Merchant', kind: 'main', cell: ({ merchant }) => merchant.name },
  { title: 'Status', kind: 'status', cell: (link) => <Status {...link} /> },
  { title: 'Sent', kind: 'time', cell: ({ created_at: time }) => <RelativeTime time={time} /> },
  { title: 'Expires', kind: 'time', cell: ({ expires_at: time }) => <RelativeTime time={time} /> },
  {
    title: 'Session',
    kind: 'id',
    cell: ({ session_id: id }) => (id === null ? 'None' : <SessionLink id={id} />),
  },
];

function Status({ status, failure_reason: reason }: SignInLinkResponse): VNode {
  const [tone, label] = STATUSES[status];
  return (
    <>
      <Badge tone={tone}>{label}</Badge> {reason === null ? null : FAILURES[reason]}
    </>
  );
}

function pathOfCancelling(environment: PlatformEnvironment, id: string): string {
  return `${dashboardPath(environment, 'sign-in-links', id)}/cancel`;
}

export function cancelPage(environment: PlatformEnvironment, id: string): Page {
  return confirmationPage({
    title: 'Cancel the sign-in link?',
    parent: { title: TITLE, path: dashboardPath(environment, 'sign-in-links') },
    action: pathOfCancelling(environment, id),
    button: 'Cancel link',
    children: <Cancelling />,
  });
}

function Cancelling(): VNode {
  return (
    <>
      <p>Nobody can sign in with the link anymore. The agent can send another one.</p>
      <input type="hidden" name="external_user_id" value={usePage().query['external_user_id']} />
    </>
  );
}
