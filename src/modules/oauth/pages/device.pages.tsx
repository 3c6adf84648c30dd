import type { VNode } from 'preact';
import { describeScope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  Details,
  Form,
  Notice,
  noticePage,
  SubmitButton,
  TextField,
  usePage,
  type PageResponse,
  Moment,
} from '../../../infrastructure/pages/index.js';
import type { DeviceAuthorization } from '../authorizations/device-authorization.entity.js';

const DEVICES = { title: 'Devices', path: '/dashboard/devices' };
const CODE_NOT_FOUND = 'Code not found';
const CODE_NOT_FOUND_HINT =
  'Your organization has no such code, or the code has expired. Codes expire after 10 minutes; request a new one on the device.';

const ENVIRONMENTS: Readonly<Record<PlatformEnvironment, string>> = {
  development: 'Development: test data only',
  production: 'Production: real users and real data',
};

export function codePage(userCode: string, isUnknown = false): PageResponse {
  return {
    title: 'Connect a device',
    parent: DEVICES,
    ...(isUnknown && { status: 404 }),
    content: (
      <Form action="/device">
        <Undecided />
        <p>Enter the code that your device or program shows. Don’t enter a code that someone sent you.</p>
        <TextField
          name="user_code"
          label="Code"
          hint="8 letters, such as WDJB-MJHT"
          value={userCode}
          autocomplete="off"
          {...(isUnknown && { error: `${CODE_NOT_FOUND}. ${CODE_NOT_FOUND_HINT}` })}
        />
        <SubmitButton>Continue</SubmitButton>
      </Form>
    ),
  };
}

/** Shown to users whose decision did not count. */
function Undecided(): VNode | null {
  if (usePage().done !== 'undecided') return null;
  return (
    <Notice kind="bad">
      Nothing was approved or declined. Only the login in which you entered the code can do that. Enter the
      code again.
    </Notice>
  );
}

/**
 * The page where a user sees what requests access, and decides. The code to compare and both buttons come first, so that they
 * are on the screen of a phone.
 */
export function confirmationPage(
  request: DeviceAuthorization,
  userCode: string,
  clientName: string,
): PageResponse {
  return {
    title: 'Approve this device?',
    content: (
      <>
        <p>Approve only if the device is in front of you and shows this code:</p>
        <p class="compared">
          <strong class="code">{userCode}</strong>
        </p>
        <p>
          <span class={`environment ${request.environment}`}>{ENVIRONMENTS[request.environment]}</span>
        </p>
        <Form action="/device/confirm">
          <input type="hidden" name="request" value={request.id} />
          <div class="choice">
            <button name="decision" value="approve">
              Approve
            </button>
            <button class="second" name="decision" value="deny">
              Decline
            </button>
          </div>
        </Form>
        <h2>What the device gets</h2>
        <p>The device gets access on your behalf for 15 minutes:</p>
        <ul>
          {request.scopes.map((scope) => (
            <li key={scope}>{describeScope(scope)}</li>
          ))}
        </ul>
        <h2>Where the request comes from</h2>
        <Details
          entries={[
            [
              'API client',
              <>
                {clientName}
                <br />
                <code>{request.clientId}</code>
              </>,
            ],
            ['IP address', request.ip],
            [
              'Program',
              <>
                {request.userAgent || 'unknown'}{' '}
                <span class="hint">Reported by the device, which can claim anything</span>
              </>,
            ],
            ['Requested', <Moment key="time" time={request.requestedAt} />],
          ]}
        />
      </>
    ),
  };
}

export function resultPage(outcome: keyof typeof RESULTS, isDecidedByAnotherUser: boolean): PageResponse {
  const { text, ...result } = RESULTS[outcome];
  return noticePage({
    ...result,
    parent: DEVICES,
    notice: text,
    text: isDecidedByAnotherUser ? 'Another user of your organization made this decision.' : null,
    links: { '/device': 'Enter another code' },
  });
}

export function unknownRequestPage(): PageResponse {
  return noticePage({
    title: CODE_NOT_FOUND,
    parent: DEVICES,
    status: 404,
    notice: CODE_NOT_FOUND_HINT,
    links: { '/device': 'Enter a code' },
  });
}

const RESULTS = {
  approved: {
    title: 'Device approved',
    text: 'The device has access. Return to the device; it continues within a few seconds.',
  },
  denied: { title: 'Device declined', text: 'Request declined. The device has no access.' },
  expired: {
    title: 'Code expired',
    kind: 'bad',
    text: 'The code expired before anyone approved it. Request a new code on the device.',
  },
} as const;
