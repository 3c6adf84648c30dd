/*
 * Gets an access token through the device flow. Says on standard error where to approve the request, waits for the
 * approval, and prints the token. Requires Node.js 20 or later.
 *
 *     access_token=$(node access-token.mjs <dashboard URL> <client_id> [<scopes>])
 */
import { setTimeout as wait } from 'node:timers/promises';

const [dashboard, client_id, scope] = process.argv.slice(2);
if (!client_id) fail({ error_message: 'Give the address of the dashboard API and the client ID.' });

async function post(path, fields) {
  const response = await fetch(new URL(path, dashboard), {
    method: 'POST',
    body: new URLSearchParams(fields),
    signal: AbortSignal.timeout(30_000),
  });
  return response.json();
}

function fail({ error_message }) {
  console.error(error_message);
  process.exit(1);
}

const device = await post('/oauth/device/code', { client_id, ...(scope && { scope }) }).catch((error) =>
  fail({ error_message: `${dashboard} does not respond as the service does: ${error.message}` }),
);
if (device.error) fail(device);
console.error(`Log in at ${device.verification_uri} and enter ${device.user_code}.`);

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
/** Poll again. `slow_down` has a longer interval, or with status 429 the seconds to wait. */
const MEANWHILE = ['authorization_pending', 'slow_down', 'server_error', 'temporarily_unavailable'];
const expiresAt = performance.now() + device.expires_in * 1000;

// The first poll may be early. After that, each poll waits for the interval, which can grow.
for (let seconds = 1; ; seconds = Math.max(seconds, device.interval)) {
  await wait(seconds * 1000);
  // The connection was lost, or a proxy responded: the service may be back at the next poll (RFC 8628, section 3.5).
  const lost = { error: 'temporarily_unavailable', error_message: 'The service did not respond.' };
  const token = await post('/oauth/token', { grant_type, client_id, device_code: device.device_code }).catch(
    () => ({ ...lost, interval: 2 * seconds }),
  );
  if (token.access_token) {
    console.log(token.access_token);
    break;
  }
  if (!MEANWHILE.includes(token.error) || performance.now() > expiresAt) fail(token);
  seconds = token.interval ?? token.retry_after ?? seconds;
}
