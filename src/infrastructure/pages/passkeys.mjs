// Adds passkeys and logs in with them (Web Authentication). The pages say that passkeys require this script.

const form = document.querySelector('form[action="/login/passkey"], form[action="/account/passkeys"]');
const isLogin = form.getAttribute('action') === '/login/passkey';

const PROBLEMS = {
  InvalidStateError: 'This device or password manager already has a passkey for your account.',
  NotAllowedError: 'The browser did not use a passkey: the request was canceled or took too long. Try again.',
  NotSupportedError: 'Your browser or device does not support this kind of passkey.',
  SecurityError: 'Passkeys do not work at this address. Open the dashboard at its configured address.',
};
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

const OTHER_PROBLEM = 'The passkey could not be used. Reload the page and try again.';

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (byte) => byte.charCodeAt(0));
const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Returns what the server sent for this page, with bytes in place of base64url. */
async function fetchOptions() {
  const body = new URLSearchParams(new FormData(form));
  const response = await fetch(`${form.getAttribute('action')}/options`, { method: 'POST', body });
  // To the login page: the login was too long ago.
  if (response.redirected) location.assign(response.url);
  const options = await response.json();
  if (options.rpId === 'localhost') origin = `${location.protocol}//localhost:${location.port}`;
  options.challenge = bytesOf(options.challenge);
  if (options.user) options.user.id = bytesOf(options.user.id);
  options.excludeCredentials?.forEach((credential) => (credential.id = bytesOf(credential.id)));
  return options;
}

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

let running = new AbortController();

/** @param mediation `conditional` to offer passkeys in the field of the email address */
async function use(mediation) {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const publicKey = await fetchOptions();
  const credential = isLogin
    ? await navigator.credentials.get({ publicKey, mediation, signal })
    : await navigator.credentials.create({ publicKey, signal });
  form.elements.credential.value = jsonOf(credential);
  form.submit();
}

async function offer() {
  // Not after a passkey was refused: a password manager that answers by itself would send it again and again.
  if (
    location.pathname === '/login' &&
    (await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())
  )
    // Nobody asked for it, so a problem is not shown.
    await use('conditional').catch(() => undefined);
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

if (!isLogin && location.origin !== origin) leadToOrigin();
await offer();
