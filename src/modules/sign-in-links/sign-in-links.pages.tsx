import { permissionOf } from '../../infrastructure/auth/index.js';
import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  actionColumn,
  Badge,
  ButtonLink,
  CodeBlock,
  ConfirmPage,
  dashboardPath,
  EraseButton,
  FormPage,
  headingOfUser,
  HiddenField,
  inEachEnvironment,
  ListPage,
  pathWith,
  SelectField,
  SessionLink,
  TextField,
  UserField,
  type Column,
  UNCHANGEABLE,
  type Confirmation,
  type FormDescription,
  type ListDescription,
  type PageVisit,
  type Tone,
} from '../../infrastructure/pages/index.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { MerchantCatalogService, MerchantsService } from '../merchants/index.js';
import {
  CreateSignInLinkForm,
  DEFAULT_LIFETIME_SECONDS,
  ListSignInLinksQuery,
  type SignInLinkResponse,
} from './sign-in-links.dto.js';
import { SignInLinkCreationService } from './sign-in-link-creation.service.js';
import { SignInLinksService } from './sign-in-links.service.js';
import { SIGN_IN_LINK_PERMISSIONS } from './sign-in-links.capability.js';

const linksOf = (environment: PlatformEnvironment) => ({
  title: 'Sign-in links',
  path: dashboardPath(environment, 'sign-in-links'),
});

const STATUSES: Readonly<Record<SignInLinkResponse['status'], readonly [tone: Tone, label: string]>> = {
  pending: ['soft', 'Pending'],
  completed: ['good', 'Completed'],
  failed: ['bad', 'Failed'],
  expired: ['soft', 'Expired'],
  cancelled: ['soft', 'Cancelled'],
};

const SOURCES: Readonly<Record<SignInLinkResponse['source'], string>> = {
  agent: 'Agent',
  backend: 'Your backend',
  dashboard: 'Dashboard',
};

const PROOFS: Readonly<Record<SignInLinkResponse['proof'], string>> = {
  partner_login: 'login',
  phone: 'text message',
};

const CANCELLERS: Readonly<Record<NonNullable<SignInLinkResponse['cancelled_by']>, string>> = {
  user: 'By the user',
  agent: 'By the agent',
  backend: 'By your backend',
  dashboard: 'In the dashboard',
  other_link: 'The user signed in with another link',
  revocation: 'The agent may no longer act for the user',
};

const FAILURES: Readonly<Record<NonNullable<SignInLinkResponse['failure_reason']>, string>> = {
  denied: 'The merchant denied the sign-in',
  too_many_attempts: 'Too many attempts',
  not_sent: 'The text message was not sent',
};

@Controller(inEachEnvironment('sign-in-links'))
class LinksPage extends ListPage(SIGN_IN_LINK_PERMISSIONS.listSignInLinks, ListSignInLinksQuery) {
  @Inject() private readonly links!: SignInLinksService;

  describe(visit: PageVisit): ListDescription<SignInLinkResponse, ListSignInLinksQuery> {
    const { actor, environment, query } = visit;
    const { title, path } = linksOf(environment);
    const user = { external_user_id: String(query['external_user_id']) };
    return {
      ...headingOfUser(
        visit,
        title,
        'Look up a customer to see the links of the last week with which they sign in to merchants.',
      ),
      messages: {
        cancelled: 'The sign-in link was cancelled.',
        ended: 'The sign-in link had ended before it could be cancelled.',
        sent: 'The sign-in link was sent.',
      },
      actions: (
        <ButtonLink
          permission={SIGN_IN_LINK_PERMISSIONS.createSignInLink}
          to={pathWith(`${path}/create`, query['external_user_id'] ? user : {}, {})}
        >
          Create link
        </ButtonLink>
      ),
      filters: <UserField />,
      requires: 'external_user_id',
      actionsOfChosen: (
        <EraseButton user={user.external_user_id} permission={permissionOf('eraseExternalUser')} />
      ),
      apply: 'Show links',
      rows: (filters) => this.links.list(actor, filters),
      caption: 'Sign-in links of the user',
      columns: [
        ...LINK_COLUMNS,
        actionColumn({
          permission: SIGN_IN_LINK_PERMISSIONS.cancelSignInLink,
          label: 'Cancel',
          to: ({ id, status }) =>
            status === 'pending' ? pathWith(`${path}/${id}/cancel`, user, {}) : undefined,
          of: ({ merchant }) => `the link for ${merchant.name}`,
        }),
      ],
      empty: {
        title: 'This customer has no sign-in links',
        text: `Links appear here when an agent, your backend or a user of the dashboard creates one in the ${environment} environment, and stay for a week.`,
      },
    };
  }
}

export const LINK_COLUMNS: readonly Column<SignInLinkResponse>[] = [
  { title: 'Merchant', kind: 'main', cell: ({ merchant }) => merchant.name },
  { title: 'Status', kind: 'main', cell: (link) => <Status {...link} /> },
  {
    title: 'Created by',
    kind: 'text',
    isOnDeskOnly: true,
    cell: ({ source, proof }) => `${SOURCES[source]} (${PROOFS[proof]})`,
  },
  { title: 'Created', kind: 'time', isOnWideOnly: true, cell: ({ created_at }) => created_at },
  { title: 'Expires', kind: 'time', cell: ({ expires_at }) => expires_at },
  {
    title: 'Session',
    kind: 'id',
    isOnWideOnly: true,
    cell: ({ session_id: id, created_at: time }) =>
      id === null ? 'None' : <SessionLink id={id} time={time} />,
  },
];

function Status({ status, failure_reason: reason, cancelled_by: canceller }: SignInLinkResponse): VNode {
  const [tone, label] = STATUSES[status];
  const why = (reason && FAILURES[reason]) ?? (canceller && CANCELLERS[canceller]);
  return (
    <>
      <Badge tone={tone}>{label}</Badge> {why}
    </>
  );
}

@Controller(inEachEnvironment('sign-in-links/:id/cancel'))
class CancelPage extends ConfirmPage(SIGN_IN_LINK_PERMISSIONS.cancelSignInLink) {
  @Inject() private readonly links!: SignInLinksService;

  /** @param visit.query `external_user_id`, also in the form: the user whose links are shown next */
  describe({ actor, environment, params, query, form }: PageVisit<'id'>): Confirmation {
    const parent = linksOf(environment);
    return {
      title: 'Cancel the sign-in link?',
      parent,
      ...UNCHANGEABLE,
      values: query,
      text: (
        <>
          <p>Nobody can sign in with the link anymore. Another one can be created.</p>
          <HiddenField name="external_user_id" />
        </>
      ),
      button: 'Cancel link',
      perform: async () => {
        const { status } = await this.links.cancelFor(actor, params.id, actor.origin, { environment });
        const done = status === 'cancelled' ? status : 'ended';
        const next = { external_user_id: form.get('external_user_id') ?? '', done };
        return { redirectTo: `${parent.path}?${new URLSearchParams(next)}` };
      },
    };
  }
}

/** In seconds, as the operation expects it. */
const LIFETIMES = [
  { length: 15 * MINUTE, label: '15 minutes' },
  { length: HOUR, label: '1 hour' },
  { length: 4 * HOUR, label: '4 hours' },
  { length: DAY, label: '1 day' },
].map(({ length, label }) => ({ value: String(length / SECOND), label }));

@Controller(inEachEnvironment('sign-in-links/create'))
class CreatePage extends FormPage(SIGN_IN_LINK_PERMISSIONS.createSignInLink, CreateSignInLinkForm) {
  @Inject() private readonly creation!: SignInLinkCreationService;
  @Inject() private readonly catalog!: MerchantCatalogService;
  @Inject() private readonly merchants!: MerchantsService;

  async describe({ actor, environment, query }: PageVisit): Promise<FormDescription<CreateSignInLinkForm>> {
    const parent = linksOf(environment);
    const merchants = await this.merchants.namesToChoose(actor, environment);
    return {
      title: 'Create a sign-in link',
      parent,
      text: 'With the link, the user connects an account at a merchant. Without a phone number, the user has to log in on your login page first.',
      values: { ...query, expires_in: DEFAULT_LIFETIME_SECONDS },
      fields: (
        <>
          <TextField
            name="external_user_id"
            label="Customer"
            hint="The identifier in your system"
            autocapitalize="none"
          />
          <TextField
            name="merchant_id"
            label="Merchant"
            hint="Type a part of the name, such as Netflix."
            suggestions={merchants}
          />
          <TextField
            name="phone_number"
            label="Phone number (optional)"
            hint="With a country code, such as +12125550123. The link is then sent there, and you do not see it."
          />
          <TextField
            name="return_url"
            label="Return address (optional)"
            hint="Where the user goes afterward."
          />
          <SelectField name="expires_in" label="Expires in" options={LIFETIMES} />
        </>
      ),
      button: 'Create link',
      perform: async (request) => {
        const proof = request.phone_number === undefined ? 'partner_login' : 'phone';
        const creation = { environment, origin: actor.origin };
        const merchant_id = await this.catalog.idFrom(request.merchant_id, 'merchant_id');
        const { url } = await this.creation.createFor(actor, { ...request, merchant_id, proof }, creation);
        const list = pathWith(parent.path, { external_user_id: request.external_user_id }, {});
        if (url === null) return { redirectTo: `${list}&done=sent` };
        return {
          title: 'Sign-in link',
          parent,
          content: (
            <>
              <p>
                Send this link to the user. Anyone who opens it has to log in as the user on your login page.
              </p>
              <CodeBlock title="Link" code={url} />
              <ButtonLink to={list} kind="second">
                Show the links of the user
              </ButtonLink>
            </>
          ),
        };
      },
    };
  }
}

export const SIGN_IN_LINK_PAGES = [LinksPage, CancelPage, CreatePage];
