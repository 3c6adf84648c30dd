/**
 * Sends invitations and links for new passwords over a mail server that greylists for minutes (451), then throttles every third
 * message (454) and resets every fourth, half of them after it has accepted the message. Meanwhile, one of two processes is killed
 * (SIGKILL) again and again. Every email arrives, twice only if the reply was lost; none arrives after its link has expired; a
 * refused invitation is shown to the inviter.
 *
 * `npm run bench:emails -- --minutes 5 --kills 20 --emails 200`
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { SmtpServer } from '../test/support/messages/smtp-server.ts';
import { Visitor } from '../test/support/pages/visitor.ts';
import { eventually } from './support/drill.mjs';
import { freePort, start } from './support/processes.mjs';
import { openWorkbench } from './support/workbench.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    kills: { type: 'string', default: '20' },
    emails: { type: 'string', default: '200' },
  },
});
const [minutes, kills, emails] = [values.minutes, values.kills, values.emails].map(Number);
/** The number of emails that are links for new passwords. */
const RESETS = Math.floor(emails / 10);
/** Links that the mail server defers until they have expired. */
const LATE = 5;
const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;
const SHIFTED_CLOCK = new URL('support/shifted-clock.mjs?seconds=1860', import.meta.url).href;
/** Milliseconds without progress: the lease of an attempt, and the pause after it. */
const TIMEOUT = 180_000;

let began = Date.now();
const log = (text) => console.error(`${((Date.now() - began) / 1000).toFixed(0)} s: ${text}`);
const failures = [];
const expect = (what, isSo) => isSo || failures.push(what);

const bench = await openWorkbench();
const smtp = await SmtpServer.start();
const seen = { greylisted: 0, throttled: 0, reset: 0, lost: 0 };
/** When the process that waited for the reply to a message was killed, the reply was lost, too. */
const lostReplies = new Map();
const killedAt = [];
let messages = 0;
let deferred = /^$/;
smtp.onRecipient = (to) => {
  if (to.startsWith('nobody')) return `550 5.1.1 <${to}>: no such user`;
  const isGreylisting = Date.now() < began + minutes * 60_000;
  if (!isGreylisting && !deferred.test(to)) return '250 OK';
  seen.greylisted += 1;
  return '451 4.7.1 Greylisted, try again later';
};
smtp.onMessage = ({ to }) => {
  messages += 1;
  if (messages % 3 === 0) {
    seen.throttled += 1;
    return '454 4.7.0 Throttling';
  }
  if (messages % 4 !== 0) return '250 Accepted';
  seen.reset += 1;
  if (messages % 8 !== 0) return 'reset';
  lostReplies.set(to, (lostReplies.get(to) ?? 0) + 1);
  return 'accept, reset';
};

const first = await bench.service({ BACKGROUND_WORK: 'off' });
const settings = {
  ...first.settings,
  SMTP_URL: smtp.url,
  MAIL_MAX_RETRY_SECONDS: '10',
  TRUSTED_PROXY_HOPS: '1',
  DASHBOARD_REQUESTS_PER_MINUTE: '1000000',
};
await first.stop();
const client = new pg.Client({ connectionString: first.databaseUrl });
await client.connect();

const processes = [{ port: await freePort() }, { port: await freePort() }];
async function startProcess(index, more = {}) {
  const { port } = processes[index];
  const environment = {
    ...settings,
    PORT: String(port),
    DASHBOARD_URL: `http://127.0.0.1:${processes[0].port}`,
    ...more,
  };
  const logs = [];
  const child = await start(MAIN, {
    environment,
    ready: 'Listening on',
    onOutput: (text) => logs.push(text),
  });
  processes[index] = { port, logs, ...child };
}

/** Repeats the work, at either process, until one responds. */
async function repeated(work) {
  for (let attempt = 0; ; attempt += 1) {
    const service = { baseUrl: `http://127.0.0.1:${processes[attempt % 2].port}` };
    const response = await work(service).catch(() => undefined);
    if (response && response.status < 500) return response;
    await pause(100);
  }
}

let cookies = new Map();
/** Returns a visitor who is logged in; each login in a new browser would send another email. */
async function login(service, again = cookies.size === 0) {
  const visitor = new Visitor(service);
  for (const [name, value] of cookies) visitor.cookies.set(name, value);
  const { email, password } = first.credentials.dashboard;
  if (again) await visitor.logIn(email, password);
  cookies = visitor.cookies;
  return visitor;
}

const INVITE = '/dashboard/users/invitations/new';
const invite = (email) =>
  repeated(async (service) => {
    const visitor = await login(service);
    const response = await visitor.fill(INVITE, { email, name: 'Ada', role: 'member' });
    // The response to an earlier attempt was lost.
    if (response.status === 400 && response.text.includes('already been taken'))
      return { ...response, status: 200 };
    if (response.location?.startsWith('/login')) await login(service, true);
    if (!response.location?.startsWith('/dashboard'))
      throw new Error(`The invitation responded ${response.status}`);
    return response;
  });
const reset = (email) => repeated((service) => new Visitor(service).fill('/password-reset', { email }));

const outcomes = async () => {
  const { rows } = await client.query(
    `SELECT dashboard_user.email, kind, outcome, attempts FROM outgoing_email
       JOIN dashboard_user ON dashboard_user.id = user_id WHERE kind <> 'notice'`,
  );
  return rows;
};

async function drained() {
  let [least, until] = [Infinity, 0];
  for (;;) {
    const waiting = (await outcomes()).filter(({ outcome }) => outcome === null).length;
    if (waiting === 0) return;
    if (waiting < least) [least, until] = [waiting, Date.now() + TIMEOUT];
    if (Date.now() > until) throw new Error(`${waiting} emails wait, but none are sent`);
    await pause(500);
  }
}

try {
  await Promise.all([startProcess(0), startProcess(1)]);
  began = Date.now();
  const { rows: hashes } = await client.query(
    'SELECT password_hash, organization_id FROM dashboard_user LIMIT 1',
  );
  const members = [...Array(RESETS).keys()].map((index) => `member-${index}@example.com`);
  const late = [...Array(LATE).keys()].map((index) => `late-${index}@example.com`);
  for (const email of [...members, ...late])
    await client.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, password_hash, created_at)
       VALUES (gen_random_uuid(), $1, $2, 'Ada', 'member', $3, now())`,
      [hashes[0].organization_id, email, hashes[0].password_hash],
    );

  // A refused invitation is shown to the inviter, also while the server defers everything else.
  const refused = `nobody-${randomBytes(4).toString('hex')}@example.com`;
  const refusedAt = Date.now();
  await invite(refused);
  const visitor = await login({ baseUrl: `http://127.0.0.1:${processes[0].port}` });
  const users = async () => (await visitor.get('/dashboard/users?search=nobody')).text;
  await eventually('the refusal on the page', async () => (await users()).includes('550 5.1.1'), 60_000);
  log(`the refusal was shown after ${((Date.now() - refusedAt) / 1000).toFixed(1)} s`);

  const invited = [...Array(emails - RESETS).keys()].map((index) => `invited-${index}@example.com`);
  const wanted = [...invited, ...members];
  const requests = (async () => {
    for (const email of members) await reset(email);
    for (const email of invited) await invite(email);
    log(`${wanted.length} emails were requested`);
  })();
  for (let killed = 1; killed <= kills; killed += 1) {
    // Half of the kills while the server greylists, half while emails are sent.
    if (killed === Math.floor(kills / 2) + 1) {
      await requests;
      await pause(Math.max(began + minutes * 60_000 - Date.now(), 0));
    }
    await pause(200 + Math.random() * 2_000);
    const victim = processes[killed % 2];
    victim.kill('SIGKILL');
    killedAt.push(Date.now());
    await victim.ended;
    await startProcess(killed % 2);
    log(`kill ${killed}, ${smtp.accepted.length} accepted`);
  }
  await requests;
  await drained();

  const copies = new Map();
  for (const { to } of smtp.accepted) copies.set(to, (copies.get(to) ?? 0) + 1);
  for (const email of wanted) expect(`${email} got no email`, copies.get(email) > 0);
  let twice = 0;
  for (const [email, count] of copies) {
    if (!wanted.includes(email)) continue;
    twice += count - 1;
    const times = smtp.accepted.filter(({ to }) => to === email).map(({ at }) => at);
    // The process may have been killed between the reply and the commit after it.
    const lost = times.filter((at) => killedAt.some((kill) => Math.abs(kill - at) < 2_000)).length;
    const allowed = 1 + (lostReplies.get(email) ?? 0) + lost;
    expect(`${email} got ${count} emails, and ${allowed - 1} replies were lost`, count <= allowed);
  }

  // Links that expire before the mail server accepts them.
  deferred = /^late-/;
  for (const email of late) await reset(email);
  await eventually(
    'the first attempts',
    async () =>
      (await outcomes()).filter(({ email, attempts }) => deferred.test(email) && attempts > 0).length ===
      LATE,
  );
  for (const process of processes) await process.stop();
  deferred = /^$/;
  await startProcess(0, { NODE_OPTIONS: `--import=${SHIFTED_CLOCK}` });
  await drained();
  const expired = (await outcomes()).filter(({ email }) => email.startsWith('late-'));
  expect(
    `late links: ${JSON.stringify(expired)}`,
    expired.every(({ outcome }) => outcome === 'expired'),
  );
  expect('a link arrived after it expired', !smtp.accepted.some(({ to }) => to.startsWith('late-')));
  const addresses = processes.flatMap(
    ({ logs }) => logs.join('').match(/\S*(?:invited|member|late|nobody)-\S*/g) ?? [],
  );
  expect(`the log contains addresses: ${addresses.slice(0, 3)}`, addresses.length === 0);

  console.log(
    `${kills} kills, ${minutes} minutes of 451: ${wanted.length} emails requested, ${wanted.filter((email) => copies.has(email)).length} ` +
      `arrived, ${twice} twice, ${lostReplies.size} lost replies. ${seen.greylisted} × 451, ${seen.throttled} × 454, ${seen.reset} resets, ` +
      `${smtp.connections} connections. ${expired.length} links expired, none arrived.`,
  );
  for (const failure of failures.slice(0, 20)) console.error(`✗ ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
} finally {
  for (const process of processes) await process.stop?.();
  smtp.close();
  await client.end();
  await bench.close();
}
