// Adds passkeys and logs in with them (Web Authentication). The pages say that passkeys require this script.

const PROBLEMS = {
  InvalidStateError: 'This device or password manager already has a passkey for your account.',
  NotAllowedError: 'The browser did not use a passkey: the request was canceled or took too long. Try again.',
  NotSupportedError: 'Your browser or device does not support this kind of passkey.',
  ExpiredError: 'This page was open for too long. Use your passkey once more.',
  LimitError:
    'There were too many attempts from your network. Try again later, or log in with your password.',
  SecurityError: 'Passkeys do not work at this address. Open the dashboard at its configured address.',
};
const OTHER_PROBLEM = 'The passkey could not be used. Reload the page and try again.';

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (byte) => byte.charCodeAt(0));
const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const problem = (name) => Object.assign(new Error(), { name });

/** The method `toJSON` of credentials would do this. Older browsers and some password managers lack it. */
function jsonOf({ id, type, response }) {
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']
    .filter((name) => response[name])
    .map((name) => [name, textOf(response[name])]);
  return JSON.stringify({
    id,
    rawId: id,
    type,
    response: Object.fromEntries(parts),
    clientExtensionResults: {},
  });
}

/** The part of the lifetime of a challenge after which the page asks for another one. */
const RENEWED_AFTER = 0.9;

const IS_IP_ADDRESS = /^[\d.]+$|^\[/.test(location.hostname);

/** Lets the form use passkeys. Also for the dialog of a login, which is added to the page later. */
export async function usePasskeys(form) {
  const isLogin = form.getAttribute('action') === '/login/passkey';
  /** Where passkeys work: browsers have none for IP addresses, such as 127.0.0.1. The page of the account names it. */
  let { origin } = form.elements.credential.dataset;

  /** Leads to this page at the address where passkeys work. */
  function leadToOrigin() {
    const link = document.createElement('a');
    link.href = `${origin}${location.pathname}${location.search}`;
    link.textContent = link.href;
    const purpose = ` to ${isLogin ? 'use' : 'add'} a passkey.`;
    form
      .querySelector('[role=status]')
      .replaceChildren('Passkeys do not work at this address. Open the dashboard at ', link, purpose);
  }

  /** Returns what the server sent for this page, with bytes in place of base64url. */
  async function fetchOptions(mediation) {
    const body = new URLSearchParams(new FormData(form));
    // Each view of the login page offers passkeys. They count apart, so that they do not use up the limit of the button.
    if (mediation) body.set('mediation', mediation);
    const response = await fetch(`${form.getAttribute('action')}/options`, { method: 'POST', body });
    // The browser goes to the login page, because the login was too long ago.
    if (response.redirected) location.assign(response.url);
    if (response.status === 429) throw problem('LimitError');
    const options = await response.json();
    if (options.rpId === 'localhost') origin = `${location.protocol}//localhost:${location.port}`;
    options.challenge = bytesOf(options.challenge);
    if (options.user) options.user.id = bytesOf(options.user.id);
    options.excludeCredentials?.forEach((credential) => (credential.id = bytesOf(credential.id)));
    return options;
  }

  let running = new AbortController();

  /** @param mediation `conditional` to offer passkeys in the field of the email address */
  async function use(mediation) {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const publicKey = await fetchOptions(mediation);
    const endsAt = Date.now() + publicKey.timeout;
    if (mediation) {
      const renewal = setTimeout(renew, publicKey.timeout * RENEWED_AFTER);
      signal.addEventListener('abort', () => clearTimeout(renewal));
    }
    const credential = isLogin
      ? await navigator.credentials.get({ publicKey, mediation, signal })
      : await navigator.credentials.create({ publicKey, signal });
    // A computer that was asleep has not renewed the challenge.
    if (Date.now() > endsAt) throw problem('ExpiredError');
    form.elements.credential.value = jsonOf(credential);
    // A dialog sends the form itself.
    const sending = new CustomEvent('passkey', { bubbles: true, cancelable: true });
    if (form.dispatchEvent(sending)) form.submit();
  }

  async function offer() {
    // Not after a passkey was refused: a password manager that responds by itself would send it again and again.
    if (
      location.pathname === '/login' &&
      (await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())
    )
      await use('conditional').catch(async ({ name }) => {
        // The user did not ask for a passkey, so other problems are not shown.
        if (name !== 'ExpiredError') return;
        form.querySelector('[role=status]').textContent = PROBLEMS[name];
        await offer();
      });
  }

  /** Offers passkeys with another challenge: now, or when the user returns to the page. */
  function renew() {
    if (document.hidden) document.addEventListener('visibilitychange', renew, { once: true });
    else void offer();
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const status = form.querySelector('[role=status]');
    status.textContent = '';
    try {
      await use();
    } catch ({ name }) {
      if (name === 'SecurityError' && origin) return leadToOrigin();
      status.textContent = PROBLEMS[name] ?? OTHER_PROBLEM;
      await offer();
    }
  });

  /** Disables the button where it cannot work, and says why. @returns whether it works */
  async function enable() {
    const isElsewhere = isLogin ? IS_IP_ADDRESS : location.origin !== origin;
    if (globalThis.PublicKeyCredential && !isElsewhere) return true;
    form.querySelector('button').disabled = true;
    // The options name the host where passkeys work.
    if (isLogin && isElsewhere) await fetchOptions('conditional').catch(() => undefined);
    if (isElsewhere && origin) leadToOrigin();
    else
      form.querySelector('[role=status]').textContent =
        PROBLEMS[isElsewhere ? 'SecurityError' : 'NotSupportedError'];
    return false;
  }

  if (await enable()) await offer();
}

// A dialog may have loaded this script, and calls the function itself.
const form = document.querySelector(
  'main :is(form[action="/login/passkey"], form[action="/account/passkeys"])',
);
if (form) await usePasskeys(form);
