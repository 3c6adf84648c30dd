import type { ComponentChildren, VNode } from 'preact';
import {
  Details,
  Form,
  FormProblem,
  Moment,
  SubmitButton,
  TextField,
  type Page,
} from '../../../infrastructure/pages/index.js';
import type { LoginTarget } from '../login-form.js';
import { YOUR_ACCOUNT } from '../your-account.js';
import { MAX_NAME_LENGTH, type Passkey } from './passkey.entity.js';
import { MAX_PASSKEYS, TOO_MANY } from './passkeys.service.js';

export const PASSKEYS_PATH = '/account/passkeys';
/** The script that uses passkeys. It finds its form by the path that the form is sent to. */
export const PASSKEY_SCRIPT = '/passkeys.js';

const DONE = {
  added: 'The passkey was added. You can log in with it from now on.',
  renamed: 'The passkey was renamed.',
  removed: 'The passkey was removed. Also delete it on your device or in your password manager.',
};

interface PasskeyFormProps {
  readonly action: string;
  /** Where passkeys work. The script leads there from other addresses of the service. */
  readonly origin?: string;
  readonly children: ComponentChildren;
}

/** A form whose button uses a passkey, which the script sends with the form. */
function PasskeyForm({ action, origin, children }: PasskeyFormProps): VNode {
  return (
    <Form action={action}>
      <input type="hidden" name="credential" data-origin={origin} />
      {children}
      <p role="status" class="hint" />
      <noscript>
        <p class="hint">Passkeys require JavaScript, which is off in your browser.</p>
      </noscript>
    </Form>
  );
}

/** @param isFirst whether the page asks for the passkey first */
export function passkeyLogin({ next, again, sent }: LoginTarget, isFirst = false): VNode {
  return (
    <PasskeyForm action="/login/passkey">
      {Object.entries({ next, again, sent }).map(([name, value]) =>
        value === undefined ? null : <input key={name} type="hidden" name={name} value={value} />,
      )}
      <button class={isFirst ? undefined : 'second'} autofocus={isFirst}>
        Use a passkey
      </button>
    </PasskeyForm>
  );
}

/** @param origin where passkeys work */
export function passkeysPage(passkeys: readonly Passkey[], origin: string): Page {
  return {
    title: 'Passkeys',
    parent: YOUR_ACCOUNT,
    script: PASSKEY_SCRIPT,
    messages: DONE,
    content: (
      <>
        <FormProblem />
        <p>
          With a passkey, you log in with your fingerprint, face or PIN, or with a security key, instead of
          your password and code. Other websites can’t steal it. Your password still works, and so does
          two-factor authentication.
        </p>
        <ul class="sessions">
          {passkeys.map(({ id, name, createdAt, usedAt }) => (
            <li key={id}>
              <div>
                <a href={`${PASSKEYS_PATH}/${id}`}>{name}</a>
                <br />
                <span class="hint">
                  added <Moment time={createdAt} />, {usedAt ? 'last used ' : 'not used yet'}
                  {usedAt ? <Moment time={usedAt} /> : null}
                </span>
              </div>
            </li>
          ))}
        </ul>
        <h2>Add a passkey</h2>
        {passkeys.length < MAX_PASSKEYS ? (
          <PasskeyForm action={PASSKEYS_PATH} origin={origin}>
            <NameField />
            <SubmitButton>Add a passkey</SubmitButton>
          </PasskeyForm>
        ) : (
          <p>{TOO_MANY}</p>
        )}
      </>
    ),
  };
}

export function passkeyPage({ id, name, createdAt, usedAt }: Passkey): Page {
  const path = `${PASSKEYS_PATH}/${id}`;
  return {
    title: name,
    parent: { title: 'Passkeys', path: PASSKEYS_PATH },
    content: (
      <>
        <Details
          entries={[
            ['Added', <Moment key="added" time={createdAt} />],
            ['Last used', usedAt ? <Moment key="used" time={usedAt} /> : 'Never'],
          ]}
        />
        <h2>Rename</h2>
        <FormProblem />
        <Form action={`${path}/rename`}>
          <NameField value={name} />
          <button class="second">Rename passkey</button>
        </Form>
        <h2>Remove</h2>
        <p>
          You will no longer be able to log in with this passkey. Other browsers in which it logged in are
          logged out, and devices that you have approved lose their access.
        </p>
        <Form action={`${path}/remove`}>
          <button class="danger">Remove passkey</button>
        </Form>
      </>
    ),
  };
}

function NameField({ value }: { readonly value?: string }): VNode {
  return (
    <TextField
      name="name"
      label="Name"
      hint="Tells your passkeys apart, such as “Work laptop”."
      value={value}
      maxLength={MAX_NAME_LENGTH}
    />
  );
}
