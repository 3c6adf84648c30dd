import { Form, Notice, TextField, type Page } from '../../../infrastructure/pages/index.js';
import { NewPasswordField } from './new-password.js';

export function resetRequestPage(props: { readonly missing?: boolean } = {}): Page {
  return {
    title: 'Reset your password',
    status: props.missing ? 400 : 200,
    content: (
      <>
        <p>Enter the e-mail address of your account. We send you a link to set a new password.</p>
        <Form action="/password-reset">
          <TextField
            name="email"
            label="E-mail address"
            type="email"
            autocomplete="username"
            error={props.missing ? 'Enter your e-mail address.' : undefined}
          />
          <button>Send the link</button>
        </Form>
        <p>
          <a href="/login">Back to the login</a>
        </p>
      </>
    ),
  };
}

/** The same whether the address has an account or not. */
export function resetRequestedPage(): Page {
  return {
    title: 'Look into your mailbox',
    content: (
      <>
        <Notice kind="good">
          If this address has an account, a mail with a link is on its way. The link works for one hour.
        </Notice>
        <p>Nothing there after a few minutes? Look into the spam folder, and check the address.</p>
        <p>
          <a href="/login">Back to the login</a>
        </p>
      </>
    ),
  };
}

interface SetPasswordPageProps {
  readonly token: string;
  readonly fault?: string | undefined;
}

export function setPasswordPage({ token, fault }: SetPasswordPageProps): Page {
  return {
    title: 'Set a password',
    status: fault ? 400 : 200,
    content: (
      <>
        <p>With the new password all other logins of your account end.</p>
        <Form action="/password-reset/confirm">
          <input type="hidden" name="token" value={token} />
          <NewPasswordField fault={fault} />
          <button>Set the password</button>
        </Form>
      </>
    ),
  };
}

export function invalidLinkPage(): Page {
  return {
    title: 'This link does not work',
    status: 400,
    content: (
      <>
        <Notice kind="bad">It was used already, is out of date, or a newer one was sent.</Notice>
        <p>
          <a href="/password-reset">Ask for a new link</a>. If you were invited, ask whoever invited you.
        </p>
      </>
    ),
  };
}

/** Only who has the mailbox gets to see this, and they may know. */
export function addressTakenPage(): Page {
  return {
    title: 'You have an account already',
    status: 409,
    content: (
      <>
        <Notice kind="bad">
          Your e-mail address has an account of another organization, and can have only one.
        </Notice>
        <p>Ask whoever invited you to invite another address of yours.</p>
      </>
    ),
  };
}

export function passwordSetPage(): Page {
  return {
    title: 'Your password is set',
    content: (
      <>
        <Notice kind="good">From now on only the new password works.</Notice>
        <p>
          <a href="/login">Log in</a>
        </p>
      </>
    ),
  };
}
