import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  actionColumn,
  Badge,
  ConfirmPage,
  dashboardPath,
  HiddenField,
  inEachEnvironment,
  ListPage,
  pathWith,
  SessionLink,
  UserField,
  type Column,
  type Confirmation,
  type ListDescription,
  type PageVisit,
  type Tone,
} from '../../infrastructure/pages/index.js';
import { ListSignInLinksQuery, type SignInLinkResponse } from './sign-in-links.dto.js';
import { SignInLinksService } from './sign-in-links.service.js';

const linksOf = (environment: PlatformEnvironment) => ({
  title: 'Sign-in links',
  path: dashboardPath(environment, 'sign-in-links'),
});

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

@Controller(inEachEnvironment('sign-in-links'))
class LinksPage extends ListPage('listSignInLinks', ListSignInLinksQuery) {
  @Inject() private readonly links!: SignInLinksService;

  describe({
    actor,
    environment,
    query,
  }: PageVisit): ListDescription<SignInLinkResponse, ListSignInLinksQuery> {
    const { title, path } = linksOf(environment);
    const user = { external_user_id: String(query['external_user_id']) };
    return {
      title,
      about: 'Look up a user to see the links of the last week with which they sign in to merchants.',
      messages: {
        cancelled: 'The sign-in link was cancelled.',
        ended: 'The sign-in link had ended before it could be cancelled.',
      },
      filters: <UserField />,
      requires: 'external_user_id',
      apply: 'Show links',
      rows: (filters) => this.links.list(actor, filters),
      caption: 'Sign-in links of the user',
      columns: [
        ...LINK_COLUMNS,
        actionColumn({
          operation: 'cancelSignInLink',
          label: 'Cancel',
          to: ({ id, status }) =>
            status === 'pending' ? pathWith(`${path}/${id}/cancel`, user, {}) : undefined,
          of: ({ merchant }) => `the link for ${merchant.name}`,
        }),
      ],
      empty: {
        title: 'This user has no sign-in links',
        text: `Links appear here when an agent sends one to the user in the ${environment} environment, and stay for a week.`,
      },
    };
  }
}

export const LINK_COLUMNS: readonly Column<SignInLinkResponse>[] = [
  { title: 'Merchant', kind: 'main', cell: ({ merchant }) => merchant.name },
  { title: 'Status', kind: 'status', cell: (link) => <Status {...link} /> },
  { title: 'Sent', kind: 'time', cell: ({ created_at }) => created_at },
  { title: 'Expires', kind: 'time', cell: ({ expires_at }) => expires_at },
  {
    title: 'Session',
    kind: 'id',
    cell: ({ session_id: id, created_at: time }) =>
      id === null ? 'None' : <SessionLink id={id} time={time} />,
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

@Controller(inEachEnvironment('sign-in-links/:id/cancel'))
class CancelPage extends ConfirmPage('cancelSignInLink') {
  @Inject() private readonly links!: SignInLinksService;

  /** @param visit.query `external_user_id`, also in the form: the user whose links are shown next */
  describe({ actor, environment, params, query, form }: PageVisit<'id'>): Confirmation {
    const parent = linksOf(environment);
    return {
      title: 'Cancel the sign-in link?',
      parent,
      values: query,
      text: (
        <>
          <p>Nobody can sign in with the link anymore. The agent can send another one.</p>
          <HiddenField name="external_user_id" />
        </>
      ),
      button: 'Cancel link',
      perform: async () => {
        const { status } = await this.links.cancelFor(actor, params.id, actor.origin, environment);
        const done = status === 'cancelled' ? status : 'ended';
        const next = { external_user_id: form.get('external_user_id') ?? '', done };
        return { redirectTo: `${parent.path}?${new URLSearchParams(next)}` };
      },
    };
  }
}

export const SIGN_IN_LINK_PAGES = [LinksPage, CancelPage];
