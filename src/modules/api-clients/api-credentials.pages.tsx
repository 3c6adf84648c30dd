import { Controller, Get, Inject } from '@nestjs/common';
import type { FunctionComponent, VNode } from 'preact';
import { permissionOf } from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { RotationRequest } from '../../infrastructure/issued-tokens/index.js';
import {
  Allowed,
  Badge,
  ButtonLink,
  CodeBlock,
  ConfirmPage,
  dashboardPath,
  DashboardPage,
  Details,
  EmptyState,
  FormPage,
  inEachEnvironment,
  Moment,
  Notice,
  OverlapField,
  RelativeTime,
  Table,
  TextField,
  Visit,
  UNCHANGEABLE,
  usePage,
  type Confirmation,
  type FormDescription,
  type Page,
  type PageResponse,
  type PageVisit,
  type Tone,
  type ShownValues,
} from '../../infrastructure/pages/index.js';
import { DAY } from '../../infrastructure/time/index.js';
import { TextField as TextParameter } from '../../infrastructure/validation/index.js';
import { MAX_NAME_LENGTH, type ApiClient } from './api-client.entity.js';
import {
  ApiClientsService,
  secretUseOf,
  type SecretsOverview,
  type SecretUse,
} from './api-clients.service.js';
import { API_CLIENT_PERMISSIONS } from './api-clients.capability.js';

class UpdateClientRequest {
  @TextParameter({ in: 'form', max: MAX_NAME_LENGTH })
  name!: string;
}

const credentialsOf = (environment: PlatformEnvironment) => ({
  title: 'API credentials',
  path: dashboardPath(environment, 'api-credentials'),
});

function actionPath({ environment, id }: ApiClient, action: string): string {
  return dashboardPath(environment, 'api-credentials', id, action);
}

@Controller(inEachEnvironment('api-credentials'))
class CredentialsPage {
  constructor(private readonly clients: ApiClientsService) {}

  @Get()
  @DashboardPage(API_CLIENT_PERMISSIONS.listApiClients)
  async show(@Visit() visit: PageVisit): Promise<PageResponse> {
    const overview = await this.clients.secretsOverview(visit);
    return { title: 'API credentials', ...(overview ? credentialsPage(overview) : NO_CREDENTIALS) };
  }
}

const NO_CREDENTIALS = {
  content: (
    <EmptyState title="No API client in this environment">
      <p>Ask the operator of the service to create one, or choose the other environment at the top.</p>
    </EmptyState>
  ),
};

function credentialsPage(overview: SecretsOverview): Pick<Page, 'about' | 'messages' | 'content'> {
  const { client, overlapEndsAt } = overview;
  return {
    about: isRestricted(overview)
      ? 'Programs send an API key. The secret only signs webhooks.'
      : 'Programs send the client ID with an API key or the secret (HTTP Basic). The secret also signs webhooks.',
    messages: {
      renamed: 'The client was renamed.',
      activated: 'From now on, webhooks are signed with the new secret.',
      restricted:
        'From now on, the secret only signs webhooks. Requests with it are refused within 5 seconds.',
      accepted: 'The secret is accepted for requests again. The change takes effect within 5 seconds.',
    },
    content: (
      <>
        <section class="card">
          <CodeBlock title="Client ID" code={client.id} />
          <Details
            entries={[
              ['Name', nameOf(client)],
              ['Created', <Moment key="created" time={client.createdAt} />],
              [
                'Extra operations',
                client.enabledOperations.length > 0 ? client.enabledOperations.join(', ') : null,
              ],
            ]}
          />
          <h2>API keys</h2>
          <p>
            Give each program a key that allows only what the program does.
            {isRestricted(overview) ? null : ' Then restrict the secret to signing webhooks.'}
          </p>
          <ButtonLink
            permission={permissionOf('listApiKeys')}
            to={dashboardPath(client.environment, 'api-credentials', 'keys')}
            kind="second"
          >
            API keys
          </ButtonLink>
          <h2>Secret</h2>
          <p>{ACCEPTED_FOR[secretUseOf(client)]}</p>
          <Secrets {...overview} />
          <Allowed permission={API_CLIENT_PERMISSIONS.viewApiSecret}>
            <div class="actions">
              <ButtonLink to={actionPath(client, 'view')} kind="second">
                {overlapEndsAt ? 'View new secret' : 'View secret'}
              </ButtonLink>
              {overlapEndsAt ? null : (
                <ButtonLink to={actionPath(client, 'rotate')} kind="second">
                  Rotate secret
                </ButtonLink>
              )}
              <ButtonLink
                permission={API_CLIENT_PERMISSIONS.restrictApiSecret}
                to={actionPath(client, 'restrict')}
                kind="second"
              >
                {client.signingOnlySince ? 'Accept it for requests' : 'Restrict to signing'}
              </ButtonLink>
            </div>
          </Allowed>
        </section>
        <Rotation {...overview} />
      </>
    ),
  };
}

function nameOf(client: ApiClient): VNode {
  return (
    <>
      {client.name ?? 'Not named yet'}
      <Allowed permission={API_CLIENT_PERMISSIONS.updateApiClient}>
        {' · '}
        <a href={actionPath(client, 'rename')}>Change name</a>
      </Allowed>
    </>
  );
}

function Secrets({ secrets, newestVersion, signingVersion }: SecretsOverview): VNode {
  return (
    <Table
      caption="Secrets"
      rows={secrets}
      keyOf={({ version }) => version}
      columns={[
        {
          title: 'Secret',
          kind: 'main',
          cell: ({ version }) =>
            `Version ${version}${secrets.length > 1 ? (version === newestVersion ? ' (new)' : ' (old)') : ''}${
              version === signingVersion ? ', signs webhooks' : ''
            }`,
        },
        { title: 'Created', kind: 'time', isOnDeskOnly: true, cell: ({ createdAt }) => createdAt },
        {
          title: 'Last request',
          kind: 'address',
          cell: ({ lastUsedAt, lastUsedIp }) =>
            lastUsedAt ? (
              <>
                <RelativeTime time={lastUsedAt} /> from {lastUsedIp}
              </>
            ) : (
              'None'
            ),
        },
        { title: 'Ends', kind: 'time', cell: ({ acceptedUntil }) => acceptedUntil ?? 'When you rotate it' },
      ]}
    />
  );
}

/** Warns of programs that still send the secret. */
function RecentUse({ secrets }: SecretsOverview): VNode | null {
  const { now } = usePage();
  const uses = secrets.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  const last = uses.toSorted((left, right) => right.getTime() - left.getTime())[0];
  return last && now.getTime() - last.getTime() < DAY ? (
    <Notice kind="bad">
      A program sent the secret in the last 24 hours (<RelativeTime time={last} />
      ). Its requests will fail.
    </Notice>
  ) : null;
}

type Progress = 'done' | 'now' | 'next' | 'later';
const PROGRESS: Readonly<Record<Progress, readonly [text: string, tone: Tone]>> = {
  done: ['Done', 'good'],
  now: ['Do this now', 'warn'],
  next: ['Next', 'soft'],
  later: ['Later', 'soft'],
};

/** The steps of a rotation. While one is in progress, says which step is next. */
function Rotation(overview: SecretsOverview): VNode {
  const { client, newestVersion, signingVersion, overlapEndsAt: end } = overview;
  const isActivated = newestVersion === signingVersion;
  const progress = (beforeActivation: Progress, afterActivation: Progress): Progress | undefined =>
    end ? (isActivated ? afterActivation : beforeActivation) : undefined;
  return (
    <details open={end !== null}>
      <summary>
        <h2>{end ? 'A rotation is in progress' : 'Rotate the secret without losing an event'}</h2>
      </summary>
      <ol class="steps">
        <Step title="Rotate the secret" progress={progress('done', 'done')}>
          Choose an overlap that gives you enough time to change your servers. You get a new secret, and the
          old one keeps working until the overlap ends.
        </Step>
        <Step title="Change your servers" progress={progress('now', 'done')}>
          Add the new secret to your webhook receivers, and keep the old one: accept a webhook if one of the
          two secrets verifies it.
          {isRestricted(overview) ? null : ' Then let your programs send requests with the new secret.'}
        </Step>
        <Step title="Sign webhooks with the new secret" progress={progress('next', 'done')}>
          When all receivers know the new secret, activate it. Without that, the old secret signs until the
          overlap ends.
          {end && !isActivated ? (
            <Allowed permission={API_CLIENT_PERMISSIONS.activateApiSecret}>
              <p>
                <ButtonLink to={actionPath(client, 'activate')}>Activate new secret</ButtonLink>
              </p>
            </Allowed>
          ) : null}
        </Step>
        <Step title="Remove the old secret from your servers" progress={progress('later', 'now')}>
          Wait a few minutes after the activation, then remove it from your receivers. The service itself
          stops using it when the overlap ends
          {end ? (
            <>
              , on <Moment time={end} /> (<RelativeTime time={end} />)
            </>
          ) : null}
          .
        </Step>
      </ol>
      <h3>If the secret leaked</h3>
      <p>
        Rotate it with an overlap of 0 hours: all earlier secrets stop working immediately. Receivers reject
        webhooks until they have the new secret. Failed deliveries are retried; if an endpoint was down for
        longer, recover what it missed on the page of the endpoint.
      </p>
      {end ? (
        <ButtonLink
          permission={API_CLIENT_PERMISSIONS.rotateApiSecret}
          to={actionPath(client, 'rotate')}
          kind="danger"
        >
          Rotate again without an overlap
        </ButtonLink>
      ) : null}
    </details>
  );
}

const Step: FunctionComponent<{ readonly title: string; readonly progress: Progress | undefined }> = ({
  title,
  progress,
  children,
}) => {
  const [text, tone] = progress ? PROGRESS[progress] : [];
  return (
    <li>
      <strong>{title}</strong> {text && tone ? <Badge tone={tone}>{text}</Badge> : null}
      <br />
      {children}
    </li>
  );
};

@Controller(inEachEnvironment('api-credentials/:client_id/rename'))
class RenamePage extends FormPage(API_CLIENT_PERMISSIONS.updateApiClient, UpdateClientRequest) {
  @Inject() private readonly clients!: ApiClientsService;

  async describe(
    visit: PageVisit<'client_id'>,
  ): Promise<FormDescription<UpdateClientRequest, SecretsOverview>> {
    const { actor, environment, params } = visit;
    const overview = await this.clients.requireOverview(visit, params.client_id);
    const { client } = overview;
    const parent = credentialsOf(environment);
    return {
      title: 'Change the name of the API client',
      parent,
      subject: overview,
      shows: nameIn,
      values: client,
      fields: (
        <TextField
          name="name"
          label="Name"
          hint="Users see it when they approve a device, such as “Example shop”."
        />
      ),
      button: 'Save name',
      perform: ({ name }, check) => this.clients.rename(actor, client.id, name, check),
      next: `${parent.path}?done=renamed`,
    };
  }
}

/** The values that the form changes. */
const nameIn = ({ client }: SecretsOverview): ShownValues => ({ Name: client.name ?? 'none' });

/** The state that rotating and activating a secret depends on. */
const secretsIn = ({ newestVersion, signingVersion, overlapEndsAt }: SecretsOverview): ShownValues => ({
  'Newest secret': `Version ${newestVersion}`,
  'Secret that signs webhooks': `Version ${signingVersion}`,
  Rotation: overlapEndsAt ? 'In progress' : 'None',
});

@Controller(inEachEnvironment('api-credentials/:client_id/view'))
class ViewPage extends ConfirmPage(API_CLIENT_PERMISSIONS.viewApiSecret) {
  @Inject() private readonly clients!: ApiClientsService;

  async describe(visit: PageVisit<'client_id'>): Promise<Confirmation> {
    const { actor, environment, params } = visit;
    const overview = await this.clients.requireOverview(visit, params.client_id);
    return {
      title: `View the ${environment} secret?`,
      parent: credentialsOf(environment),
      ...UNCHANGEABLE,
      text:
        'The next page shows the secret. Make sure that nobody else sees your screen. The audit log records that you ' +
        'viewed it.',
      button: 'View secret',
      isDestructive: false,
      perform: async () => secretPage(overview, await this.clients.view(actor, params.client_id), 'viewed'),
    };
  }
}

/** The secret in plain text. This page is the response to a form, so the secret is in no address. */
function secretPage(overview: SecretsOverview, secret: string, reason: 'viewed' | 'rotated'): Page {
  const { client, overlapEndsAt } = overview;
  const isNew = reason === 'rotated';
  return {
    title: isNew ? `The new ${client.environment} secret` : `The ${client.environment} secret`,
    parent: credentialsOf(client.environment),
    content: (
      <>
        {isNew ? (
          <Notice kind="good">
            {overlapEndsAt
              ? 'The secret was rotated. The old secret keeps working during the overlap.'
              : 'The secret was rotated. All earlier secrets have stopped working.'}
          </Notice>
        ) : null}
        <CodeBlock title="Secret" code={secret} />
        <CodeBlock title="Client ID" code={client.id} />
        <p>
          Keep the secret on your servers, in a secret store. Never put it in an app, a browser, a URL or
          source code. You can view it again later.
        </p>
        {isNew && overlapEndsAt ? <Rotation {...overview} /> : null}
      </>
    ),
  };
}

@Controller(inEachEnvironment('api-credentials/:client_id/rotate'))
class RotatePage extends ConfirmPage(API_CLIENT_PERMISSIONS.rotateApiSecret, RotationRequest) {
  @Inject() private readonly clients!: ApiClientsService;

  async describe(visit: PageVisit<'client_id'>): Promise<Confirmation<SecretsOverview, RotationRequest>> {
    const { actor, environment, params } = visit;
    const overview = (): Promise<SecretsOverview> => this.clients.requireOverview(visit, params.client_id);
    const shown = await overview();
    const isInProgress = shown.overlapEndsAt !== null;
    return {
      title: `Rotate the ${environment} secret?`,
      parent: credentialsOf(environment),
      subject: shown,
      shows: secretsIn,
      text: (
        <>
          <p>
            You get a new secret.{' '}
            {isInProgress
              ? 'A rotation is in progress, so you can only rotate without an overlap: both current secrets stop working immediately. To keep the overlap, cancel.'
              : isRestricted(shown)
                ? 'During the overlap, webhooks are signed with the old one until you activate the new one.'
                : 'During the overlap, the old secret works too, and webhooks are signed with the old one until you activate the new one.'}
          </p>
          <OverlapField
            isInProgress={isInProgress}
            hint={`You cannot extend it later. Without an overlap, ${
              isRestricted(shown)
                ? 'webhooks are signed with the new secret at once'
                : 'requests with the old secret fail immediately'
            }.`}
          />
        </>
      ),
      button: 'Rotate secret',
      isDestructive: isInProgress,
      perform: async ({ overlap_hours: overlapHours }, check) => {
        const secret = await this.clients.rotateSecretForUser(actor, params.client_id, overlapHours, check);
        return secretPage(await overview(), secret, 'rotated');
      },
    };
  }
}

@Controller(inEachEnvironment('api-credentials/:client_id/activate'))
class ActivatePage extends ConfirmPage(API_CLIENT_PERMISSIONS.activateApiSecret) {
  @Inject() private readonly clients!: ApiClientsService;

  async describe(visit: PageVisit<'client_id'>): Promise<Confirmation<SecretsOverview>> {
    const { actor, environment, params } = visit;
    const overview = await this.clients.requireOverview(visit, params.client_id);
    const parent = credentialsOf(environment);
    return {
      title: 'Sign webhooks with the new secret?',
      parent,
      subject: overview,
      shows: secretsIn,
      text: (
        <p>
          Do this when all your {environment} webhook receivers know the new secret. From now on, the{' '}
          <code>Service-Signature</code> header of every webhook is signed with the new secret: receivers that
          check this header with only the old secret reject the webhooks. Receivers that check{' '}
          <code>webhook-signature</code> notice no change, because it has a signature with each secret until
          the overlap ends. You cannot go back to the old secret.
        </p>
      ),
      button: 'Activate new secret',
      perform: (_, check) => this.clients.activateSecretForUser(actor, overview.client.id, check),
      next: `${parent.path}?done=activated`,
    };
  }
}

const isRestricted = ({ client }: SecretsOverview): boolean => secretUseOf(client) === 'signing';

const ACCEPTED_FOR: Readonly<Record<SecretUse, string>> = {
  everything: 'The secret is accepted for all requests, and signs webhooks.',
  signing: 'The secret only signs webhooks. Requests with it are refused like those with a wrong secret.',
};

@Controller(inEachEnvironment('api-credentials/:client_id/restrict'))
class RestrictPage extends ConfirmPage(API_CLIENT_PERMISSIONS.restrictApiSecret) {
  @Inject() private readonly clients!: ApiClientsService;

  async describe(visit: PageVisit<'client_id'>): Promise<Confirmation<SecretsOverview>> {
    const { actor, environment, params } = visit;
    const overview = await this.clients.requireOverview(visit, params.client_id);
    const parent = credentialsOf(environment);
    const isUndone = isRestricted(overview);
    return {
      title: isUndone ? 'Accept the secret for requests again?' : 'Restrict the secret to signing webhooks?',
      parent,
      subject: overview,
      shows: (current) => ({ Secret: ACCEPTED_FOR[secretUseOf(current.client)] }),
      text: isUndone ? (
        <p>Anyone who has the secret, such as a webhook receiver, can then use the whole API again.</p>
      ) : (
        <>
          <p>
            Do this when all your programs send API keys. Within 5 seconds, requests with the secret are
            refused, so a secret that leaks from a receiver gives no access to the API. You can undo this.
          </p>
          <RecentUse {...overview} />
          <Secrets {...overview} />
        </>
      ),
      button: isUndone ? 'Accept the secret' : 'Restrict to signing',
      isDestructive: !isUndone,
      perform: (_, check) =>
        this.clients.restrictSecretForUser(
          actor,
          overview.client.id,
          isUndone ? 'everything' : 'signing',
          check,
        ),
      next: `${parent.path}?done=${isUndone ? 'accepted' : 'restricted'}`,
    };
  }
}

export const API_CREDENTIAL_PAGES = [
  CredentialsPage,
  RenamePage,
  ViewPage,
  RotatePage,
  ActivatePage,
  RestrictPage,
];
