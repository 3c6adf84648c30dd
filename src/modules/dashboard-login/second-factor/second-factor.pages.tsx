import type { VNode } from 'preact';
import { encode } from 'uqr';
import {
  CodeBlock,
  Form,
  Link,
  Moment,
  Notice,
  TextField,
  type Page,
} from '../../../infrastructure/pages/index.js';
import type { SecondFactorSetup, SecondFactorState } from './second-factor.service.js';

/** Modules of empty space around a QR code, which cameras need to find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

export type RefusedChange = 'turn off' | 'renew';

/** @param isRequired whether the user has to set it up before anything else */
export function secondFactorStatePage(
  state: SecondFactorState,
  { refused, isRequired = false }: { readonly refused?: RefusedChange; readonly isRequired?: boolean } = {},
): Page {
  return {
    title: 'Two-factor authentication',
    status: refused ? 403 : 200,
    content: (
      <>
        {isRequired ? (
          <Notice kind="bad">
            Your organization requires two-factor authentication. Set it up to continue. Instead, you can{' '}
            <a href="/account/passkeys">add a passkey</a> and log in with it.
          </Notice>
        ) : null}
        {state.enabledAt ? <On state={state} enabledAt={state.enabledAt} refused={refused} /> : <Off />}
        <Link to="/account">Back to your account</Link>
      </>
    ),
  };
}

/** Shown to users who have a passkey, and logged in with their password only. */
export function passkeyRequiredPage(): Page {
  return {
    title: 'Log in with your passkey',
    content: (
      <>
        <Notice kind="bad">
          Your organization requires two-factor authentication, and you logged in with your password only.
        </Notice>
        <p>
          If you lost your passkey, ask another owner or an admin of your organization: they can remove your
          account and invite you again.
        </p>
        <Link to="/login">Log in with your passkey</Link>
      </>
    ),
  };
}

function Off(): VNode {
  return (
    <>
      <p>
        Two-factor authentication is <strong>off</strong>. If you turn it on, you need your password and a
        code from an app on your phone to log in. Someone who learns your password can’t log in without the
        code.
      </p>
      <Form action="/account/second-factor/setup">
        <button>Set up two-factor authentication</button>
      </Form>
    </>
  );
}

interface OnProps {
  readonly state: SecondFactorState;
  readonly enabledAt: Date;
  readonly refused: RefusedChange | undefined;
}

function On({ state, enabledAt, refused }: OnProps): VNode {
  const password = (name: string, change: RefusedChange): VNode => (
    <TextField
      name={name}
      label="Your password"
      type="password"
      autocomplete="current-password"
      error={refused === change ? 'This isn’t your password.' : undefined}
    />
  );
  return (
    <>
      <p>
        Two-factor authentication has been <strong>on</strong> since <Moment time={enabledAt} />.
      </p>
      <h2>Recovery codes</h2>
      <p>{`You have ${state.recoveryCodesLeft} left. New codes replace all old codes.`}</p>
      <Form action="/account/second-factor/recovery-codes">
        {password('password', 'renew')}
        <button class="second">Create new recovery codes</button>
      </Form>
      <h2>Turn off</h2>
      <p>
        You will need only your password to log in. Your recovery codes will stop working. This asks for your
        password and not for a code, so that it also works if you have lost your phone and logged in with a
        recovery code.
      </p>
      <Form action="/account/second-factor/disable">
        {password('password_to_turn_off', 'turn off')}
        <button class="danger">Turn off two-factor authentication</button>
      </Form>
    </>
  );
}

export function secondFactorSetupPage({ secret, uri }: SecondFactorSetup, isWrong = false): Page {
  return {
    title: 'Set up two-factor authentication',
    status: isWrong ? 400 : 200,
    content: (
      <>
        <h2>1. Add this account to your authenticator app</h2>
        <p>
          Scan this QR code with the app. If the app is on this device, <a href={uri}>open it here</a>.
        </p>
        <QrCode text={uri} label="QR code for your authenticator app. The same key is shown below as text." />
        <p>Or enter this key in the app:</p>
        <p>
          <code class="secret">{inGroups(secret)}</code>
        </p>
        <h2>2. Enter the code from the app</h2>
        <Form action="/account/second-factor/enable">
          <TextField
            name="code"
            label="Code"
            hint="The 6-digit code that the app shows."
            isCode
            inputmode="numeric"
            error={
              isWrong ? 'This code is wrong or expired. Enter the code that the app shows now.' : undefined
            }
          />
          <button>Turn on two-factor authentication</button>
        </Form>
        <Link to="/account">Cancel</Link>
      </>
    ),
  };
}

/** Shown once: only digests of the codes are stored. */
export function recoveryCodesPage(codes: readonly string[], isFirstSet: boolean): Page {
  const text = codes.join('\n');
  return {
    title: 'Your recovery codes',
    content: (
      <>
        <Notice kind="good">
          {isFirstSet ? 'Two-factor authentication is on.' : 'Your old recovery codes no longer work.'}
        </Notice>
        <p>
          Save these codes where you keep your passwords. <strong>They won’t be shown again.</strong> If you
          can’t use your app, you can log in with one of the codes. Each code works once.
        </p>
        <CodeBlock title="Recovery codes" code={text} />
        <p>
          <a href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`} download="recovery-codes.txt">
            Download the codes
          </a>
        </p>
        <Link to="/account">I’ve saved my codes</Link>
      </>
    ),
  };
}

/** Groups of 4 are easier to type. Apps ignore the spaces. */
function inGroups(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? '';
}

/** A QR code as one path of black squares, without a script or an image file. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const { data, size } = encode(text, { border: QUIET_ZONE });
  const squares = data.flatMap((row, y) => row.map((isBlack, x) => (isBlack ? `M${x} ${y}h1v1h-1z` : '')));
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={squares.join('')} />
    </svg>
  );
}
