import { createContext, type ComponentChildren, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { DashboardIdentity } from '../auth/index.js';

/** Values that every page gets from the request. */
interface PageContext {
  /** Proves that a form comes from our own page. */
  readonly formToken: string;
  /** The user, if one is logged in. */
  readonly user?: DashboardIdentity;
}

const CurrentPage = createContext<PageContext>({ formToken: '' });

export const FORM_TOKEN_FIELD = 'form_token';

interface LayoutProps {
  readonly title: string;
  /** Whether the title begins with `Error:`. Screen readers read the title first. */
  readonly isError: boolean;
  readonly context: PageContext;
  readonly children: ComponentChildren;
}

/** The frame around every page. */
export function Layout({ title, isError, context, children }: LayoutProps): VNode {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="same-origin" />
        <title>{`${isError ? 'Error: ' : ''}${title} · Merchant Connectivity`}</title>
        <link rel="stylesheet" href="/pages.css" />
        <link rel="icon" href="data:," />
      </head>
      <body>
        <CurrentPage.Provider value={context}>
          <header>
            <p class="product">Merchant Connectivity</p>
            {context.user ? <Navigation user={context.user} /> : null}
          </header>
          <main>
            <h1>{title}</h1>
            {children}
          </main>
        </CurrentPage.Provider>
      </body>
    </html>
  );
}

function Navigation({ user }: { readonly user: DashboardIdentity }): VNode {
  return (
    <nav aria-label="Main">
      <a href="/device">Connect a device</a>
      <a href="/account">Account</a>
      <span class="user">{user.email}</span>
      <Form action="/logout">
        <button class="quiet">Log out</button>
      </Form>
    </nav>
  );
}

interface FormProps {
  readonly action: string;
  readonly children: ComponentChildren;
}

/** A form that is sent with POST and the anti-forgery token. */
export function Form({ action, children }: FormProps): VNode {
  const { formToken } = useContext(CurrentPage);
  return (
    <form method="post" action={action}>
      <input type="hidden" name={FORM_TOKEN_FIELD} value={formToken} />
      {children}
    </form>
  );
}

interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password';
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  /** Error message about the value. */
  readonly error?: string | undefined;
  /** The value that browsers and password managers may fill in (HTML, "autofill"). */
  readonly autocomplete: string;
  readonly inputmode?: 'numeric' | 'text';
}

/** A labeled field. Its error is associated with it for screen readers (WCAG 2.2, 3.3.1). */
export function TextField(props: TextFieldProps): VNode {
  const hint = props.hint ? `${props.name}-hint` : undefined;
  const error = props.error ? `${props.name}-error` : undefined;
  return (
    <p class="field">
      <label for={props.name}>{props.label}</label>
      {hint ? (
        <span id={hint} class="hint">
          {props.hint}
        </span>
      ) : null}
      {error ? (
        <span id={error} class="error">
          {props.error}
        </span>
      ) : null}
      <input
        id={props.name}
        name={props.name}
        type={props.type ?? 'text'}
        value={props.value}
        required
        autocomplete={props.autocomplete}
        inputmode={props.inputmode}
        aria-describedby={[hint, error].filter(Boolean).join(' ') || undefined}
        aria-invalid={error ? 'true' : undefined}
      />
    </p>
  );
}

/** A success or error message, which screen readers announce when the page loads. */
export function Notice(props: {
  readonly kind: 'good' | 'bad';
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class={`notice ${props.kind}`} role={props.kind === 'bad' ? 'alert' : 'status'}>
      {props.children}
    </div>
  );
}

/** A paragraph that links to another page. */
export function Link({ to, children }: { readonly to: string; readonly children: string }): VNode {
  return (
    <p>
      <a href={to}>{children}</a>
    </p>
  );
}

/** A time in UTC. */
export function Moment({ time }: { readonly time: Date }): VNode {
  const text = time.toISOString();
  return <time datetime={text}>{`${text.slice(0, 10)} ${text.slice(11, 16)} UTC`}</time>;
}
