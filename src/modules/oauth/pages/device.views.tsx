import type { VNode } from 'preact';
import type { Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { Form, Notice, TextField, type PageResponse } from '../../../infrastructure/pages/index.js';

/** A request of a device as a person sees it before they decide. */
export interface DeviceRequestView {
  readonly id: string;
  readonly userCode: string;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly scopes: readonly Scope[];
  readonly ip: string;
  readonly userAgent: string;
  readonly requestedAt: Date;
}

/** What a person finds when they look for the outcome. */
export interface DeviceResultView {
  readonly outcome: 'approved' | 'denied' | 'expired';
  /** Whether it was somebody else who decided. */
  readonly byAnother: boolean;
}

const CODE_NOT_FOUND = 'Code not found';
const CODE_NOT_FOUND_HINT =
  'There is no such code for your organization, or it has expired. Codes are good for 10 minutes; have the device show a new one.';

const ENVIRONMENTS: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'Development: test data only',
  production: 'Production: real users and real data',
};

const SCOPES: Readonly<Record<Scope, string>> = {
  'request_logs:read': 'Read request logs: the calls of your API client and the deliveries of its webhooks',
  'webhook_endpoints:read': 'See the webhook endpoints',
  'webhook_endpoints:write': 'Create, change and delete webhook endpoints',
};

/** Where a person enters the code that their device shows. */
export function codePage(userCode: string, isUnknown = false): PageResponse {
  return {
    title: 'Connect a device',
    ...(isUnknown && { status: 404 }),
    content: (
      <Form action="/device">
        <p>Enter the code that your device or program shows. Enter no code that somebody sent you.</p>
        <TextField
          name="user_code"
          label="Code"
          hint="8 letters, such as WDJB-MJHT"
          value={userCode}
          autocomplete="off"
          {...(isUnknown && { error: `${CODE_NOT_FOUND}. ${CODE_NOT_FOUND_HINT}` })}
        />
        <button>Continue</button>
      </Form>
    ),
  };
}

/** Where a person sees what asks for access, and decides. */
export function confirmationPage(request: DeviceRequestView): PageResponse {
  return {
    title: 'Let this device in?',
    content: (
      <>
        <p>
          A device asks to act in your name for 15 minutes. Approve it only if you have it before you and it
          shows this code:
        </p>
        <p>
          <strong class="code">{request.userCode}</strong>
        </p>
        <dl>
          <dt>API client</dt>
          <dd>
            <code>{request.clientId}</code>, the {request.environment} client of your organization
          </dd>
          <dt>Environment</dt>
          <dd>
            <span class={`environment ${request.environment}`}>{ENVIRONMENTS[request.environment]}</span>
          </dd>
          <dt>It may</dt>
          <dd>
            <ul>
              {request.scopes.map((scope) => (
                <li key={scope}>{SCOPES[scope]}</li>
              ))}
            </ul>
          </dd>
          <dt>Asked from</dt>
          <dd>{request.ip}</dd>
          <dt>By</dt>
          <dd>{request.userAgent || 'a program that does not say what it is'}</dd>
          <dt>At</dt>
          <dd>
            <Time value={request.requestedAt} />
          </dd>
        </dl>
        <Form action="/device/confirm">
          <input type="hidden" name="request" value={request.id} />
          <div class="choice">
            <button name="decision" value="approve">
              Approve
            </button>
            <button name="decision" value="deny">
              Decline
            </button>
          </div>
        </Form>
      </>
    ),
  };
}

/** What has become of a request. */
export function resultPage({ outcome, byAnother }: DeviceResultView): PageResponse {
  const { title, kind, text } = RESULTS[outcome];
  return {
    title,
    content: (
      <>
        <Notice kind={kind}>{text}</Notice>
        {byAnother ? <p>Somebody else of your organization had decided already.</p> : null}
        <p>
          <a href="/device">Enter another code</a>
        </p>
      </>
    ),
  };
}

/** Also for requests of other organizations: that they exist is not told. */
export function unknownRequestPage(): PageResponse {
  return {
    title: CODE_NOT_FOUND,
    status: 404,
    content: (
      <>
        <Notice kind="bad">{CODE_NOT_FOUND_HINT}</Notice>
        <p>
          <a href="/device">Enter a code</a>
        </p>
      </>
    ),
  };
}

const RESULTS = {
  approved: {
    title: 'Device approved',
    kind: 'good',
    text: 'The device is let in. Go back to it; it goes on by itself within a few seconds.',
  },
  denied: {
    title: 'Device declined',
    kind: 'good',
    text: 'The device was turned away. It gets no access.',
  },
  expired: {
    title: 'Code expired',
    kind: 'bad',
    text: 'The code has expired before anybody decided. Have the device show a new one.',
  },
} as const;

function Time({ value }: { readonly value: Date }): VNode {
  const text = value.toISOString();
  return <time dateTime={text}>{`${text.slice(0, 10)} ${text.slice(11, 19)} UTC`}</time>;
}
