#!/usr/bin/env node
/**
 * Plays the browser of a user who connects an agent: logs in at the sandbox, approves, and returns to the agent. A user
 * with a file in `VISITS` declines. Prints the address that the user returns to. Clients open it as the program in `BROWSER`.
 *
 *     LOGIN_USER=user-1 VISITS=FOLDER ./browser.mjs URL
 */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { LOGIN_USER: user, VISITS } = process.env;
const cookies = new Map();

const visits = join(VISITS, user);
const decision = existsSync(`${visits}-declines`) ? 'decline' : 'approve';
const [address] = process.argv.slice(2);
appendFileSync(visits, `${address}\n`);

const { location: page } = await request(withMore(address));
await fill(page, { action: 'log_in', external_user_id: user });
const { location: returnsTo } = await fill(page, { action: decision });
console.log(returnsTo);
// A client with a server of its own may start it after the browser.
const hasServer = new URL(returnsTo).port === process.env.PORT;
for (let attempt = 0; attempt < (hasServer ? 50 : 1); attempt += 1) {
  if (await fetch(returnsTo).catch(() => undefined)) break;
  await sleep(200);
}

/** Returns the authorization request with what other clients send: the service must ignore it, or treat it as the specification says. */
function withMore(text) {
  const url = new URL(text);
  const { searchParams } = url;
  const scope = searchParams.get('scope');
  searchParams.set('scope', `${scope ?? ''} openid offline_access`.trim());
  for (const name of ['client_id', 'resource', 'code_challenge'])
    if (searchParams.has(name)) searchParams.append(name, searchParams.get(name));
  for (const [name, value] of [
    ['prompt', 'consent'],
    ['nonce', 'one'],
    ['nonce', 'another'],
    ['response_mode', ''],
    ['scope', ''],
    ['redirect_uri', ''],
  ])
    searchParams.append(name, value);
  return url.href;
}

/** Opens a page and submits its form. */
async function fill(url, fields) {
  const { text } = await request(url);
  const form = { form_token: /name="form_token" value="([\w-]+)"/.exec(text)[1], ...fields };
  return request(url, { method: 'POST', body: new URLSearchParams(form) });
}

async function request(url, options = {}) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, { redirect: 'manual', headers: { cookie }, ...options });
  for (const [, name, value] of response.headers.getSetCookie().map((line) => /^([^=]+)=([^;]*)/.exec(line)))
    cookies.set(name, value);
  const text = await response.text();
  if (response.status >= 400) {
    appendFileSync(visits, `${response.status} ${/<h1>(.*?)<\/h1>/.exec(text)?.[1]}\n`);
    process.exit(1);
  }
  const location = response.headers.get('location');
  return { text, location: location && new URL(location, url).href };
}
