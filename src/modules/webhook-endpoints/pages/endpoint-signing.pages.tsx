import { Controller, Inject } from '@nestjs/common';
import type { VNode } from 'preact';
import { permissionOf } from '../../../infrastructure/auth/index.js';
import { RotationRequest } from '../../../infrastructure/issued-tokens/index.js';
import {
  Allowed,
  ButtonLink,
  CodeBlock,
  ConfirmPage,
  dashboardPath,
  inEachEnvironment,
  Moment,
  Notice,
  OverlapField,
  SelectField,
  UNCHANGEABLE,
  Views,
  type Confirmation,
  type Page,
  type PageVisit,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import { EnumField } from '../../../infrastructure/validation/index.js';
import type { KeysOverview } from '../endpoint-keys.js';
import { EndpointSigningService } from '../endpoint-signing.service.js';
import { SIGNINGS, type Signing } from '../webhook-endpoint-key.entity.js';
import { ENDPOINT_PERMISSIONS } from '../webhook-endpoints.capability.js';
import type { WebhookEndpointResponse } from '../webhook-endpoints.dto.js';
import { WebhookEndpointsService } from '../webhook-endpoints.service.js';
import { endpointPath, pageOfEndpoint } from './endpoint-parts.pages.js';
import { RECEIVERS, verificationCode, type ReceiverName } from './receiver-code.js';

const SIGNING_LABELS: Readonly<Record<Signing, string>> = {
  hmac: 'A secret of this endpoint (HMAC-SHA256)',
  ed25519: 'A key pair of this endpoint (Ed25519)',
  client: 'The secret of the API credentials',
};

/** Options for what signs, those with a key of the endpoint first. */
export const SIGNING_OPTIONS = (['hmac', 'ed25519', 'client'] as const).map((value) => ({
  value,
  label: SIGNING_LABELS[value],
}));

class RotateKeyForm extends RotationRequest {
  @EnumField(SIGNINGS, { in: 'form' })
  signing!: Signing;
}

/** The section about signatures on the page of an endpoint. */
export function Signatures({
  endpoint,
  keys: { newestVersion, signingVersion },
  receiver,
}: {
  readonly endpoint: WebhookEndpointResponse;
  readonly keys: KeysOverview;
  readonly receiver: ReceiverName;
}): VNode {
  const { id, environment, signing, public_key: publicKey, previous_key_expires_at: overlapEnds } = endpoint;
  const path = endpointPath(environment, id);
  const credentials = `${environment} API credentials`;
  return (
    <>
      <h2>Signatures</h2>
      <p>
        The header <code>webhook-signature</code> is made with{' '}
        {signing === 'client' ? 'the secret of your ' : 'a key that only this endpoint has. '}
        {signing === 'client' ? (
          <Allowed permission={permissionOf('listApiClients')} otherwise={credentials}>
            <a href={dashboardPath(environment, 'api-credentials')}>{credentials}</a>
          </Allowed>
        ) : null}
        {signing === 'client'
          ? '. Give the endpoint a key of its own, so that your receiver needs no credential of the API. '
          : null}
        Your receiver should <a href="/docs/webhooks#signatures">verify the signature</a>.
      </p>
      {publicKey === null ? null : <CodeBlock title="Public key" code={publicKey} />}
      {overlapEnds === null ? null : (
        <p>
          A rotation is in progress. Until <Moment time={overlapEnds} />, each delivery also has a signature
          with the previous key. Add the new key to your receiver before then.
        </p>
      )}
      <div class="actions">
        {signing === 'hmac' ? (
          <ButtonLink
            permission={ENDPOINT_PERMISSIONS.viewWebhookEndpointKey}
            to={`${path}/key`}
            kind="second"
          >
            View key
          </ButtonLink>
        ) : null}
        {newestVersion === signingVersion || overlapEnds === null ? null : (
          <ButtonLink
            permission={ENDPOINT_PERMISSIONS.activateWebhookEndpointKey}
            to={`${path}/activate-key`}
            kind="second"
          >
            Activate new key
          </ButtonLink>
        )}
        <ButtonLink
          permission={ENDPOINT_PERMISSIONS.rotateWebhookEndpointKey}
          to={`${path}/rotate-key`}
          kind="second"
        >
          {signing === 'client' ? 'Give it its own key' : 'Rotate key'}
        </ButtonLink>
      </div>
      <Verification receiver={receiver} />
    </>
  );
}

/** Code to copy into a receiver, in the language of the user. */
function Verification({ receiver }: { readonly receiver: ReceiverName }): VNode {
  const { language, file } = RECEIVERS[receiver];
  const views = Object.entries(RECEIVERS).map(([value, each]) => ({ value, label: each.language }));
  return (
    <>
      <h3>Verify in your receiver</h3>
      <Views name="language" views={views} current={receiver} />
      <p>
        Call <code>{receiver === 'go' ? 'Verify' : 'verify'}</code> with the bytes of the body before any code
        parses them, with the headers, and with the key. See also{' '}
        <a href={`/docs/receivers#${file.toLowerCase().replace('.', '')}`}>the whole file</a>, and{' '}
        <a href="/docs/receivers">receivers for frameworks</a>.
      </p>
      <CodeBlock title={`Verification in ${language}`} code={verificationCode(receiver)} />
    </>
  );
}

/** A key in plain text. This page is the response to a form, so the key is in no address. */
export function keyPage(endpoint: WebhookEndpointResponse, reason: 'created' | 'rotated' | 'viewed'): Page {
  const { environment } = endpoint;
  const { signing_key: secret, public_key: publicKey, previous_key_expires_at: overlapEnds } = endpoint;
  const parent = pageOfEndpoint(environment, endpoint);
  return {
    title: reason === 'viewed' ? 'The signing key' : 'The new signing key',
    parent,
    content: (
      <>
        {reason === 'created' ? <Notice kind="good">The endpoint was created.</Notice> : null}
        {reason === 'rotated' ? (
          <Notice kind="good">
            The new key signs from now on.{' '}
            {overlapEnds ? (
              <>
                Until <Moment time={overlapEnds} />, each delivery also has a signature as before.
              </>
            ) : (
              'All earlier keys have stopped signing.'
            )}
          </Notice>
        ) : null}
        {secret === undefined ? null : <CodeBlock title="Signing key" code={secret} />}
        {publicKey === null ? null : <CodeBlock title="Public key" code={publicKey} />}
        <p>
          {secret === undefined
            ? 'Your receiver verifies deliveries with the public key, which is not secret.'
            : 'Give this key to the receiver of this endpoint. It verifies webhooks, and gives no access to the API. An admin can view it again later.'}
        </p>
        <ButtonLink to={parent.path}>Continue to the endpoint</ButtonLink>
      </>
    ),
  };
}

@Controller(inEachEnvironment('webhook-endpoints/:id/key'))
class ViewKeyPage extends ConfirmPage(ENDPOINT_PERMISSIONS.viewWebhookEndpointKey) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;
  @Inject() private readonly signing!: EndpointSigningService;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation> {
    const { actor, environment, params } = visit;
    const endpoint = await this.endpoints.requireIn(visit, params.id);
    return {
      title: 'View the signing key?',
      parent: pageOfEndpoint(environment, endpoint),
      ...UNCHANGEABLE,
      text:
        'The next page shows the key. Make sure that nobody else sees your screen. The audit log records that you ' +
        'viewed it.',
      button: 'View key',
      isDestructive: false,
      perform: async () => {
        const secret = await this.signing.viewKey(actor, endpoint.id);
        const shown = await this.endpoints.get(actor, endpoint.id);
        return keyPage({ ...shown, ...(secret !== undefined && { signing_key: secret }) }, 'viewed');
      },
    };
  }
}

/** The state that rotating and activating a key depends on. */
const keysIn = ({ signing, newestVersion, signingVersion, overlapEndsAt }: KeysOverview): ShownValues => ({
  Signs: SIGNING_LABELS[signing],
  'Newest key': newestVersion === 0 ? 'None' : `Version ${newestVersion}`,
  'First signature': signingVersion === 0 ? SIGNING_LABELS.client : `Version ${signingVersion}`,
  Rotation: overlapEndsAt ? 'In progress' : 'None',
});

@Controller(inEachEnvironment('webhook-endpoints/:id/rotate-key'))
class RotateKeyPage extends ConfirmPage(ENDPOINT_PERMISSIONS.rotateWebhookEndpointKey, RotateKeyForm) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;
  @Inject() private readonly signing!: EndpointSigningService;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation<KeysOverview, RotateKeyForm>> {
    const { actor, environment, params } = visit;
    const endpoint = await this.endpoints.requireIn(visit, params.id);
    const keys = await this.signing.overviewOf(endpoint);
    const isInProgress = keys.overlapEndsAt !== null;
    return {
      title: keys.signing === 'client' ? 'Give the endpoint its own key?' : 'Rotate the signing key?',
      parent: pageOfEndpoint(environment, endpoint),
      subject: keys,
      shows: keysIn,
      values: { signing: keys.signing === 'client' ? 'hmac' : keys.signing },
      text: (
        <>
          <p>
            {isInProgress
              ? 'A rotation is in progress, so you can only rotate without an overlap: all earlier keys stop signing immediately. To keep the overlap, cancel.'
              : 'During the overlap, each delivery has a signature with the new key and one as before. Add the new key to your receiver in that time.'}
          </p>
          <SelectField
            name="signing"
            label="New signing key"
            options={SIGNING_OPTIONS.filter(({ value }) => value !== 'client' || keys.signing !== 'client')}
          />
          <OverlapField isInProgress={isInProgress} />
        </>
      ),
      button: 'Make a new key',
      isDestructive: isInProgress,
      perform: async (request, check) =>
        keyPage(await this.signing.rotateKey(actor, endpoint.id, request, check), 'rotated'),
    };
  }
}

@Controller(inEachEnvironment('webhook-endpoints/:id/activate-key'))
class ActivateKeyPage extends ConfirmPage(ENDPOINT_PERMISSIONS.activateWebhookEndpointKey) {
  @Inject() private readonly endpoints!: WebhookEndpointsService;
  @Inject() private readonly signing!: EndpointSigningService;

  async describe(visit: PageVisit<'id'>): Promise<Confirmation<KeysOverview>> {
    const { actor, environment, params } = visit;
    const endpoint = await this.endpoints.requireIn(visit, params.id);
    const path = endpointPath(environment, endpoint.id);
    return {
      title: 'Put the signature with the new key first?',
      parent: pageOfEndpoint(environment, endpoint),
      subject: await this.signing.overviewOf(endpoint),
      shows: keysIn,
      text:
        'Do this when your receiver knows the new key. Receivers that check only the first signature then use the new ' +
        'key. The others notice no change, because the previous key also signs until the overlap ends.',
      button: 'Activate new key',
      isDestructive: false,
      perform: (_, check) => this.signing.activateKey(actor, endpoint.id, check),
      next: `${path}?done=key_activated`,
    };
  }
}

export const ENDPOINT_SIGNING_PAGES = [ViewKeyPage, RotateKeyPage, ActivateKeyPage];
