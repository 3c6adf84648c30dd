/*
 * Gets an access token through the device flow. Says on standard error where to approve the request, waits for the
 * approval, and prints the token. Requires Node.js 20 or later.
 *
 *     access_token=$(node access-token.mjs <dashboard URL> <client_id> [<scopes>])
 */
import { setTimeout as wait } from 'node:timers/promises';

const [dashboard, client_id, scope] = process.argv.slice(2);

async function post(path, fields) {
  const response = await fetch(new URL(path, dashboard), {
    method: 'POST',
    body: new URLSearchParams(fields),
  });
  return response.json();
}

function fail({ error_message }) {
  console.error(error_message);
  process.exit(1);
}

const device = await post('/oauth/device/code', { client_id, ...(scope && { scope }) });
if (device.error) fail(device);
console.error(`Log in at ${device.verification_uri} and enter ${device.user_code}.`);

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
// The first poll may be early. After that, each poll waits for the interval, which can grow.
for (let seconds = 1; ; seconds = Math.max(seconds, device.interval)) {
  await wait(seconds * 1000);
  const token = await post('/oauth/token', { grant_type, client_id, device_code: device.device_code });
  if (token.access_token) {
    console.log(token.access_token);
    break;
  }
  if (token.error === 'slow_down') seconds = token.interval;
  else if (token.error !== 'authorization_pending') fail(token);
}
