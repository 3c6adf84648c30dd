import type { VNode } from 'preact';
import { encode } from 'uqr';
import { Form, Moment, Notice, TextField, type Page } from '../../../infrastructure/pages/index.js';
import type { SecondFactorSetup, SecondFactorState } from './second-factor.service.js';

/** Modules of empty space around a QR code, which cameras need to find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** What the password was asked for and was not right. */
export type RefusedChange = 'turn off' | 'renew';

export function secondFactorStatePage(state: SecondFactorState, refused?: RefusedChange): Page {
  return {
    title: 'Two-factor authentication',
    status: refused ? 403 : 200,
    content: (
      <>
        {state.enabledAt ? <On state={state} enabledAt={state.enabledAt} refused={refused} /> : <Off />}
        <p>
          <a href="/account">Back to your account</a>
        </p>
      </>
    ),
  };
}

function Off(): VNode {
  return (
    <>
      <p>
        It is <strong>off</strong>. With it, a login needs your password and a code that an app on your phone
        shows: who finds out your password alone does not get in.
      </p>
      <Form action="/account/second-factor/setup">
        <button>Set it up</button>
      </Form>
    </>
  );
}

interface OnProps {
  readonly state: SecondFactorState;
  readonly enabledAt: Date;
  readonly refused?: RefusedChange | undefined;
}

function On({ state, enabledAt, refused }: OnProps): VNode {
  return (
    <>
      <p>
        It is <strong>on</strong> since <Moment time={enabledAt} />.
      </p>
      <h2>Recovery codes</h2>
      <p>{`You have ${state.recoveryCodesLeft} left. New ones take the place of all old ones.`}</p>
      <PasswordForm
        action="/account/second-factor/recovery-codes"
        name="password"
        button="Make new recovery codes"
        isRefused={refused === 'renew'}
      />
      <h2>Turn it off</h2>
      <p>A login will need your password only. The recovery codes stop working.</p>
      <PasswordForm
        action="/account/second-factor/disable"
        name="password_to_turn_off"
        button="Turn off two-factor authentication"
        isRefused={refused === 'turn off'}
      />
    </>
  );
}

interface PasswordFormProps {
  readonly action: string;
  readonly name: string;
  readonly button: string;
  readonly isRefused: boolean;
}

function PasswordForm({ action, name, button, isRefused }: PasswordFormProps): VNode {
  return (
    <Form action={action}>
      <TextField
        name={name}
        label="Your password"
        type="password"
        autocomplete="current-password"
        error={isRefused ? 'This is not your password.' : undefined}
      />
      <button class="second">{button}</button>
    </Form>
  );
}

export function secondFactorSetupPage({ secret, uri }: SecondFactorSetup, isWrong = false): Page {
  return {
    title: 'Set up two-factor authentication',
    status: isWrong ? 400 : 200,
    content: (
      <>
        <h2>1. Tell your authenticator app</h2>
        <p>Scan this code with the app:</p>
        <QrCode text={uri} label="QR code for your authenticator app; the same key stands below as text" />
        <p>Or type this key into it:</p>
        <p>
          <code class="secret">{inGroups(secret)}</code>
        </p>
        <h2>2. Enter what it shows</h2>
        <Form action="/account/second-factor/enable">
          <TextField
            name="code"
            label="Code"
            hint="The 6 digits that the app shows now."
            autocomplete="one-time-code"
            inputmode="numeric"
            error={
              isWrong ? 'This code is wrong or expired. Enter the one that the app shows now.' : undefined
            }
          />
          <button>Turn on two-factor authentication</button>
        </Form>
        <p>
          <a href="/account">Cancel</a>
        </p>
      </>
    ),
  };
}

/** Shown once: nobody can read them again, us included. */
export function recoveryCodesPage(codes: readonly string[], isNew: boolean): Page {
  return {
    title: 'Your recovery codes',
    content: (
      <>
        <Notice kind="good">
          {isNew ? 'Two-factor authentication is on.' : 'The old recovery codes no longer work.'}
        </Notice>
        <p>
          Keep these codes where you keep your passwords, <strong>now: they are not shown again</strong>. Each
          lets you in once when you cannot use your app.
        </p>
        <ul class="codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <p>
          <a href="/account">I have kept them</a>
        </p>
      </>
    ),
  };
}

/** Groups of 4 are easier to type; apps take the spaces. */
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
