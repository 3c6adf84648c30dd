import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { UserLoginsService } from '../../../src/modules/dashboard-login/index.js';
import { DashboardUsersRepository, type DashboardUser } from '../../../src/modules/dashboard-users/index.js';
import {
  Authenticator,
  cbor,
  type CreationOptions,
  type Deviations,
  type RequestOptions,
} from '../../support/logins/authenticator.js';
import { moveClock } from '../../support/clock.js';
import {
  addUser,
  auditOf,
  changeInTurn,
  disable,
  sessionsOf,
  type TestUser,
} from '../../support/pages/dashboard-users.js';
import { decide, poll, startFlow } from '../../support/logins/device-flow.js';
import { countedAttempts, whileDiskIsFull } from '../../support/database/full-disk.js';
import { mailTo } from '../../support/messages/mails.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor, type PageResponse, sessionIn } from '../../support/pages/visitor.js';

const ORIGIN = 'https://dashboard.example.com';
const PATH = '/account/passkeys';
const REFUSED = 'The passkey was not accepted.';

/** A self-signed certificate, made with `openssl req -x509`, whose revocation list is at this address. */
const CERTIFICATE_WITH_LIST = Buffer.from(
  'MIIBljCCATygAwIBAgIUKEeWhB/5nk3JFf6SwuPKNOvwetQwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAgFw0yNjExMjUxMjEw' +
    'MjRaGA8yMTI2MTEwMTEyMTAyNFowDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKaK+dfnG2kIN24fS4ku' +
    'vX8njx8pU7fNYUw2D8Rz6qbXvgdBz5I9tu4PagLxEAi25EUdeHeQ7O5bRWSO/2Jm1ByjejB4MB0GA1UdDgQWBBR2FCe8ZjEj6jJA' +
    'b+npLDDYSTu3/zAfBgNVHSMEGDAWgBR2FCe8ZjEj6jJAb+npLDDYSTu3/zArBgNVHR8EJDAiMCCgHqAchhpodHRwOi8vMTI3LjAu' +
    'MC4xOjAwMDAwL2NybDAJBgNVHRMEAjAAMAoGCCqGSM49BAMCA0gAMEUCIQCAqgT/gnduFJ9G6PZbHJZicYgTqLj475ebReBMx4/k' +
    'awIgQVWHDbaK+u7QDzKgfY6wPdPJko+df2yQVQ9NHToPYTc=',
  'base64',
);
const LIST = 'http://127.0.0.1:00000/';

const service = useTestApp({ ...BEHIND_PROXY, DASHBOARD_URL: `${ORIGIN}/` });

const logInWithPassword = async (user: TestUser): Promise<Visitor> => {
  const visitor = new Visitor(service);
  expect((await visitor.logIn(user.email, user.password)).status).toBe(303);
  return visitor;
};

async function optionsFrom<Options>(visitor: Visitor, page: string, action = page): Promise<Options> {
  await visitor.get(page);
  const { status, headers, text } = await visitor.submit(`${action}/options`);
  expect([status, headers.get('content-type')]).toEqual([201, 'application/json']);
  expect(headers.get('cache-control')).toBe('no-store');
  return JSON.parse(text) as Options;
}

const creationOptions = (visitor: Visitor) => optionsFrom<CreationOptions>(visitor, PATH);
const requestOptions = (visitor: Visitor) => optionsFrom<RequestOptions>(visitor, '/login', '/login/passkey');

async function add(visitor: Visitor, deviations: Deviations = {}, name = 'Laptop') {
  const authenticator = new Authenticator(ORIGIN);
  const credential = authenticator.create(await creationOptions(visitor), deviations);
  return { authenticator, response: await visitor.submit(PATH, { name, credential }) };
}

interface Owner extends TestUser {
  readonly authenticator: Authenticator;
  /** The browser that added the passkey, still logged in. */
  readonly visitor: Visitor;
}

async function ownerOfPasskey(organizationId?: string): Promise<Owner> {
  const user = await addUser(service, organizationId);
  const visitor = await logInWithPassword(user);
  const { authenticator, response } = await add(visitor);
  expect(response.location).toBe(`${PATH}?done=added`);
  return { ...user, authenticator, visitor };
}

const send = (visitor: Visitor, credential: string, fields: Record<string, string> = {}) =>
  visitor.submit('/login/passkey', { credential, ...fields });

async function logIn(
  { authenticator }: Pick<Owner, 'authenticator'>,
  visitor = new Visitor(service),
  deviations: Deviations = {},
): Promise<PageResponse> {
  return send(visitor, authenticator.get(await requestOptions(visitor), deviations));
}

const passkeysOf = ({ id }: TestUser) =>
  service.database.query<{ id: string; name: string; counter: string; used_at: Date | null }>(
    'SELECT * FROM passkey WHERE user_id = $1 ORDER BY created_at',
    [id],
  );

function expectRefused({ status, text, headers }: PageResponse, visitor: Visitor): void {
  expect(status).toBe(403);
  expect(text).toContain(REFUSED);
  expect(headers.getSetCookie().join()).not.toContain('session=');
  expect(visitor.session).toBeUndefined();
}

describe('Adding a passkey', () => {
  it('is refused if the session has ended meanwhile', async () => {
    const user = await addUser(service);
    const [here, there] = [await logInWithPassword(user), await logInWithPassword(user)];
    const options = await creationOptions(there);
    const credential = new Authenticator(ORIGIN).create(options);
    await here.get('/account');
    const late = await changeInTurn(service, user, [
      () =>
        here.submit('/account/password', {
          current_password: user.password,
          new_password: randomBytes(9).toString('hex'),
        }),
      () => there.submit(PATH, { name: 'Laptop', credential }),
    ]);
    expect([late?.status, late?.text]).toEqual([401, expect.stringContaining('Nothing was changed.')]);
    expect(await passkeysOf(user)).toEqual([]);
  });

  it('asks for a discoverable credential of the configured site with user verification', async () => {
    const owner = await ownerOfPasskey();
    const options = await creationOptions(owner.visitor);
    expect(options).toMatchObject({
      rp: { id: 'dashboard.example.com', name: 'Merchant Connectivity' },
      user: {
        id: Buffer.from(owner.id.replaceAll('-', ''), 'hex').toString('base64url'),
        name: owner.email,
        displayName: 'Ada',
      },
      pubKeyCredParams: [{ alg: -7 }, { alg: -257 }],
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: owner.authenticator.credentialId }],
    });
    expect(Buffer.from(options.challenge, 'base64url')).toHaveLength(32);
  });

  it('stores it, records it, and notifies the user', async () => {
    const owner = await ownerOfPasskey();
    const [passkey] = await passkeysOf(owner);
    expect(passkey).toMatchObject({ name: 'Laptop', counter: '0', used_at: null });
    const { text } = await owner.visitor.get(`${PATH}?done=added`);
    expect(text).toContain('The passkey was added.');
    expect(text).toContain('not used yet');
    expect((await owner.visitor.get('/account')).text).toContain('Manage passkeys');
    expect(await auditOf(service, owner)).toEqual(['auth.login success', 'auth.passkey_add success']);
    const mail = await mailTo(service, owner.email, 'A passkey was added to your account');
    expect(mail).toContain('remove it');
  });

  it.each<[string, Deviations]>([
    ['from another origin', { origin: 'https://dashboard.example.com.evil.example' }],
    ['from the origin with another port', { origin: `${ORIGIN}:8443` }],
    ['for another site', { rpId: 'evil.example' }],
    ['without user verification', { isUserVerified: false }],
    ['without user presence', { isUserPresent: false }],
    ['with the type of a login', { type: 'webauthn.get' }],
    ['with a challenge of the attacker', { challenge: randomBytes(32).toString('base64url') }],
    ['with an algorithm that was not offered', { algorithm: -8 }],
    ['with a credential ID that is too long', { credentialId: randomBytes(1_024).toString('base64url') }],
  ])('rejects one %s', async (_of, deviations) => {
    const user = await addUser(service);
    const { response } = await add(await logInWithPassword(user), deviations);
    expect(response.status).toBe(400);
    expect(response.text).toContain(REFUSED);
    expect(await passkeysOf(user)).toEqual([]);
  });

  it.each(['', '{}', 'null', '{"id":1,"response":{"clientDataJSON":"e30"}}', '{"id":"a","response":{}}'])(
    'rejects %j',
    async (credential) => {
      const visitor = await logInWithPassword(await addUser(service));
      const { status, text } = await visitor.fill(PATH, { name: 'Laptop', credential });
      expect(status).toBe(400);
      expect(text).toContain(credential === '' ? 'Passkeys require JavaScript' : REFUSED);
    },
  );

  it('accepts each challenge once, for 10 minutes, and only in the session that got it', async () => {
    const user = await addUser(service);
    const [visitor, same, other] = [
      await logInWithPassword(user),
      await logInWithPassword(user),
      await logInWithPassword(await addUser(service)),
    ];
    const credential = new Authenticator(ORIGIN).create(await creationOptions(visitor));
    for (const each of [same, other]) {
      const { status, text } = await each.fill(PATH, { name: 'Stolen', credential });
      expect([status, text.includes(REFUSED)]).toEqual([400, true]);
    }
    expect((await visitor.submit(PATH, { name: 'Own', credential })).status).toBe(303);
    expect((await visitor.fill(PATH, { name: 'Again', credential })).status).toBe(400);

    const late = new Authenticator(ORIGIN).create(await creationOptions(visitor));
    using _clock = moveClock(service, 11 * MINUTE);
    const again = await logInWithPassword(user);
    again.cookies.set('session', visitor.session ?? '');
    await service.database.query(
      `UPDATE dashboard_session SET authenticated_at = now() + interval '10 minutes' WHERE user_id = $1`,
      [user.id],
    );
    expect((await visitor.fill(PATH, { name: 'Late', credential: late })).status).toBe(400);
    expect((await passkeysOf(user)).map(({ name }) => name)).toEqual(['Own']);
  });

  it('ignores what authenticators prove about their model, and requests nothing from addresses in certificates', async () => {
    const requests: unknown[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url);
      response.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const address = LIST.replace('00000', String(port).padStart(5, '0'));
      const certificate = Buffer.from(
        CERTIFICATE_WITH_LIST.toString('latin1').replace(LIST, address),
        'latin1',
      );
      // {"x5c": [certificate]}
      const head = Buffer.from([0xa1, 0x63, 0x78, 0x35, 0x63, 0x81]);
      const statement = Buffer.concat([head, cbor(certificate)]);
      for (const format of ['apple', 'packed', 'android-key', 'tpm', 'fido-u2f']) {
        const visitor = await logInWithPassword(await addUser(service));
        expect((await add(visitor, { attestation: [format, statement] })).response.location).toContain(
          'added',
        );
      }
      expect(requests).toEqual([]);
    } finally {
      server.close();
    }
  });

  it('does not accept the challenge of a login', async () => {
    const owner = await ownerOfPasskey();
    const { challenge } = await requestOptions(owner.visitor);
    const { response } = await add(owner.visitor, { challenge });
    expect(response.status).toBe(400);
  });

  it('does not accept a credential of another user', async () => {
    const owner = await ownerOfPasskey();
    const other = await logInWithPassword(await addUser(service));
    const { response } = await add(other, { credentialId: owner.authenticator.credentialId });
    expect(response.status).toBe(400);
    expect((await logIn(owner)).status).toBe(303);
  });

  it('requires a name of at most 64 characters', async () => {
    const visitor = await logInWithPassword(await addUser(service));
    expect((await add(visitor, {}, '')).response.text).toContain('The “Name” field is required.');
    expect((await add(visitor, {}, 'x'.repeat(65))).response.status).toBe(400);
    expect((await add(visitor, {}, '😀'.repeat(64))).response.status).toBe(303);
  });

  it('accepts exactly 20 per user, of 25 concurrent requests', async () => {
    const user = await addUser(service);
    const visitor = await logInWithPassword(user);
    const credentials: string[] = [];
    for (let index = 0; index < 25; index += 1)
      credentials.push(new Authenticator(ORIGIN).create(await creationOptions(visitor)));
    const responses = await Promise.all(
      credentials.map((credential) => visitor.copy().submit(PATH, { name: 'Laptop', credential })),
    );
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(20);
    expect(await passkeysOf(user)).toHaveLength(20);
    const { text } = await visitor.get(PATH);
    expect(text).toContain('You have 20 passkeys, which is the maximum.');
    const refused = await visitor.submit(`${PATH}/options`);
    expect(refused.status).toBe(400);
  });

  it('requires a login from the last 5 minutes', async () => {
    const user = await addUser(service);
    const visitor = await logInWithPassword(user);
    const credential = new Authenticator(ORIGIN).create(await creationOptions(visitor));
    using _clock = moveClock(service, 6 * MINUTE);
    const script = { 'sec-fetch-dest': 'empty' };
    const { location } = await visitor.submit(`${PATH}/options`, {}, script);
    expect(location).toMatch(/^\/login\?next=%2Faccount%2Fpasskeys.*&again=form$/);
    const sent = { name: 'Laptop', credential };
    const again = await visitor.submit(PATH, sent);
    expect([again.status, again.location]).toEqual([307, expect.stringMatching(/^\/login\/again\?/)]);
    const kept = await visitor.submit(again.location ?? '', sent);
    expect(kept.text).toContain('[&quot;name&quot;,&quot;Laptop&quot;]');
    expect(kept.text).toContain('&quot;secrets&quot;:[&quot;credential&quot;]');
    expect(kept.text).not.toContain('clientDataJSON');
    expect(await passkeysOf(user)).toEqual([]);
  });
});

describe('Changing passkeys', () => {
  const pathOf = async (owner: Owner): Promise<string> => `${PATH}/${(await passkeysOf(owner))[0]?.id}`;

  it('renames one', async () => {
    const owner = await ownerOfPasskey();
    const path = await pathOf(owner);
    expect((await owner.visitor.get(path)).text).toContain('value="Laptop"');
    expect((await owner.visitor.submit(`${path}/rename`, { name: ' ' })).status).toBe(400);
    const { location } = await owner.visitor.submit(`${path}/rename`, { name: '<b>Phone</b>' });
    expect(location).toBe(`${PATH}?done=renamed`);
    expect((await owner.visitor.get(PATH)).text).toContain('&lt;b>Phone&lt;/b>');
    await owner.visitor.submit(`${path}/rename`, { name: '<b>Phone</b>' });
    const renamed = (await auditOf(service, owner)).filter((entry) =>
      entry.startsWith('auth.passkey_rename'),
    );
    expect(renamed).toEqual(['auth.passkey_rename success']);
  });

  it('removes one, which then no longer works, and notifies the user', async () => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    const pending = owner.authenticator.get(await requestOptions(visitor));
    const path = await pathOf(owner);
    await owner.visitor.get(path);
    expect((await owner.visitor.submit(`${path}/remove`)).location).toBe(`${PATH}?done=removed`);
    expect((await owner.visitor.submit(`${path}/remove`)).status).toBe(404);
    expectRefused(await send(visitor, pending), visitor);
    expect((await auditOf(service, owner)).slice(2)).toEqual(['auth.passkey_remove success']);
    await mailTo(service, owner.email, 'A passkey was removed from your account');
  });

  it('ends the other sessions that it opened, and those only', async () => {
    const owner = await ownerOfPasskey();
    const [thief, own] = [new Visitor(service), await logInWithPassword(owner)];
    for (const visitor of [thief, owner.visitor])
      expect((await logIn(owner, visitor)).location).toBe('/dashboard');
    const path = await pathOf(owner);
    await owner.visitor.get(path);
    expect((await owner.visitor.submit(`${path}/remove`)).location).toBe(`${PATH}?done=removed`);
    expect((await thief.get('/account')).location).toContain('/login');
    for (const visitor of [owner.visitor, own]) expect((await visitor.get('/account')).status).toBe(200);
  });

  it('ends the access tokens and device approvals of the user, which the passkey may have opened', async () => {
    const owner = await ownerOfPasskey();
    const READ = '/webhook-endpoints?environment=development';
    const thief = new Visitor(service);
    await logIn(owner, thief);
    const [approved, polled] = [await startFlow(service), await startFlow(service)];
    for (const { user_code } of [approved, polled])
      await decide(service, { cookie: `session=${thief.session}` }, user_code);
    const token = String((await poll(service, polled)).body['access_token']);
    rememberSecret(token);
    expect((await service.request(READ, { token })).status).toBe(200);
    const path = await pathOf(owner);
    await owner.visitor.get(path);
    expect((await owner.visitor.submit(`${path}/remove`)).location).toBe(`${PATH}?done=removed`);
    expect((await service.request(READ, { token })).status).toBe(401);
    expect((await poll(service, approved)).body).toMatchObject({ error: 'access_denied' });
  });

  it('by an operator ends all sessions and devices of the user', async () => {
    const owner = await ownerOfPasskey();
    const user = await service.app.get(DashboardUsersRepository).find(owner.id);
    const reset = () => service.app.get(UserLoginsService).resetSecondFactor(user as DashboardUser);
    expect(await reset()).toBe(true);
    expect([await sessionsOf(service, owner), await passkeysOf(owner)]).toEqual([0, []]);
    const after = await service.app.get(DashboardUsersRepository).find(owner.id);
    expect(after?.accessVersion).toBe((user?.accessVersion ?? 0) + 1);
    await logInWithPassword(owner);
    expect(await reset()).toBe(false);
    expect(await sessionsOf(service, owner)).toBe(1);
  });

  it('requires a login from the last 5 minutes to remove one', async () => {
    const owner = await ownerOfPasskey();
    const path = await pathOf(owner);
    await owner.visitor.get(path);
    using _clock = moveClock(service, 6 * MINUTE);
    expect((await owner.visitor.submit(`${path}/remove`)).location).toMatch(/^\/login\/again\?/);
    expect(await passkeysOf(owner)).toHaveLength(1);
  });

  it('does not show or change those of other users', async () => {
    const [owner, other] = [await ownerOfPasskey(), await ownerOfPasskey()];
    const path = await pathOf(owner);
    expect((await other.visitor.get(path)).status).toBe(404);
    expect((await other.visitor.get(`${PATH}/none`)).status).toBe(404);
    expect((await other.visitor.submit(`${path}/rename`, { name: 'Mine' })).status).toBe(404);
    expect((await other.visitor.submit(`${path}/remove`)).status).toBe(404);
    expect(await passkeysOf(owner)).toMatchObject([{ name: 'Laptop' }]);
  });

  it('is for logged-in users, and only from pages of the dashboard', async () => {
    const owner = await ownerOfPasskey();
    expect((await new Visitor(service).get(PATH)).location).toBe('/login?next=%2Faccount%2Fpasskeys');
    const forged = await owner.visitor.submit(`${PATH}/options`, { form_token: 'forged' });
    expect(forged.status).toBe(403);
  });

  it('happens when the user is removed', async () => {
    const owner = await ownerOfPasskey();
    await logIn(owner);
    await service.database.query('DELETE FROM dashboard_user WHERE id = $1', [owner.id]);
    expect(await passkeysOf(owner)).toEqual([]);
    const visitor = new Visitor(service);
    expectRefused(await logIn(owner, visitor), visitor);
  });
});

describe('POST /login/passkey', () => {
  it('logs in without the email address, and keeps the counter', async () => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    const options = await requestOptions(visitor);
    expect(options).toEqual({
      challenge: expect.any(String) as string,
      rpId: 'dashboard.example.com',
      userVerification: 'required',
      timeout: 10 * MINUTE,
    });
    const { status, location } = await send(visitor, owner.authenticator.get(options), {
      next: '/account?a=b',
    });
    expect([status, location]).toEqual([303, '/account?a=b']);
    expect((await visitor.get('/account')).text).toContain(owner.email);
    expect(await passkeysOf(owner)).toMatchObject([{ counter: '1', used_at: expect.any(Date) as Date }]);
    expect((await auditOf(service, owner)).slice(2)).toEqual(['auth.login success']);
    await mailTo(service, owner.email, 'New login to your account');
  });

  it('leads only to pages of the dashboard', async () => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    const credential = owner.authenticator.get(await requestOptions(visitor));
    expect((await send(visitor, credential, { next: '//evil.example' })).location).toBe('/dashboard');
  });

  it('replaces the session of the browser, and is a recent login', async () => {
    const owner = await ownerOfPasskey();
    const old = owner.visitor.copy();
    using _clock = moveClock(service, 10 * MINUTE);
    const { location } = await owner.visitor.fill(PATH, {});
    expect(location).toMatch(/^\/login\/again\?/);
    expect((await owner.visitor.submit(location ?? '')).text).toContain('action="/login/passkey"');
    expect((await logIn(owner, owner.visitor)).status).toBe(303);
    expect((await old.get('/account')).status).toBe(303);
    expect((await add(owner.visitor)).response.status).toBe(303);
    expect(await sessionsOf(service, owner)).toBe(1);
  });

  it.each<[string, Deviations]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['from a subdomain', { origin: 'https://x.dashboard.example.com' }],
    ['without TLS', { origin: 'http://dashboard.example.com' }],
    ['for another site', { rpId: 'example.com' }],
    ['without user verification', { isUserVerified: false }],
    ['without user presence', { isUserPresent: false }],
    ['with the type of a creation', { type: 'webauthn.create' }],
    ['with a challenge of the attacker', { challenge: randomBytes(32).toString('base64url') }],
    ['with the challenge in another spelling', { challenge: '=' }],
    ['without the handle of the user', { userHandle: undefined }],
    ['with the handle of nobody', { userHandle: randomBytes(16).toString('base64url') }],
    ['that is unknown', { credentialId: randomBytes(32).toString('base64url') }],
    [
      'with the signature of another key',
      { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    ],
  ])('refuses a passkey %s', async (_of, deviations) => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    const options = await requestOptions(visitor);
    const changed = deviations.challenge === '=' ? { challenge: `${options.challenge}=` } : deviations;
    expectRefused(await send(visitor, owner.authenticator.get(options, changed)), visitor);
    const failures = deviations.credentialId === undefined ? ['auth.login failure'] : [];
    expect((await auditOf(service, owner)).slice(2)).toEqual(failures);
    expect(await passkeysOf(owner)).toMatchObject([{ counter: '0', used_at: null }]);
  });

  it('accepts a signature once, also if the browser sends it 20 times, and refuses it afterwards', async () => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    // Without a counter, only the challenge prevents the replay.
    const credential = owner.authenticator.get(await requestOptions(visitor), { counter: 0 });
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(visitor.copy(), credential)));
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(20);
    expect(new Set(responses.map(({ headers }) => sessionIn(headers))).size).toBe(1);
    await service.database.query('DELETE FROM submitted_form');
    await visitor.get('/login');
    expect((await send(visitor, credential)).status).not.toBe(303);
  });

  it('refuses a challenge of another browser, of a session that adds a passkey, and of more than 10 minutes ago', async () => {
    const owner = await ownerOfPasskey();
    const [visitor, other] = [new Visitor(service), new Visitor(service)];
    const stolen = owner.authenticator.get(await requestOptions(other));
    await visitor.get('/login');
    expectRefused(await send(visitor, stolen), visitor);
    // It was not used up.
    expect((await send(other, stolen)).status).toBe(303);

    const { challenge } = await creationOptions(owner.visitor);
    expect((await logIn(owner, owner.visitor, { challenge })).status).toBe(403);

    const late = owner.authenticator.get(await requestOptions(visitor));
    using _clock = moveClock(service, 10 * MINUTE + 1_000);
    expectRefused(await send(visitor, late), visitor);
  });

  it('does not count a login that the service could not complete, and accepts the signature afterwards', async () => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    const credential = owner.authenticator.get(await requestOptions(visitor));
    const before = await countedAttempts(service);
    const audited = await auditOf(service, owner);
    await whileDiskIsFull(service, ['dashboard_session'], async () =>
      expect((await send(visitor, credential)).status).toBe(503),
    );
    expect([await countedAttempts(service), await auditOf(service, owner)]).toEqual([before, audited]);
    expect((await send(visitor, credential)).location).toBe('/dashboard');
  });

  it('uses up the challenge of a failed login', async () => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    const options = await requestOptions(visitor);
    expectRefused(await send(visitor, owner.authenticator.get(options, { isUserVerified: false })), visitor);
    expectRefused(await send(visitor, owner.authenticator.get(options)), visitor);
  });

  it('refuses a counter that did not increase, which shows a copied key', async () => {
    const owner = await ownerOfPasskey();
    expect((await logIn(owner, undefined, { counter: 7 })).status).toBe(303);
    for (const counter of [0, 6, 7]) {
      const visitor = new Visitor(service);
      expectRefused(await logIn(owner, visitor, { counter }), visitor);
    }
    expect((await logIn(owner, undefined, { counter: 4_294_967_295 })).status).toBe(303);
    expect(await passkeysOf(owner)).toMatchObject([{ counter: '4294967295' }]);
  });

  it('accepts any counter of a passkey that several devices of the user share, each of which counts for itself', async () => {
    const owner = await ownerOfPasskey();
    for (const counter of [7, 7, 3, 0])
      expect((await logIn(owner, undefined, { counter, isSynced: true })).status).toBe(303);
    expect(await passkeysOf(owner)).toMatchObject([{ counter: '0' }]);
  });

  it('accepts passkeys that never count', async () => {
    const owner = await ownerOfPasskey();
    expect((await logIn(owner, undefined, { counter: 0 })).status).toBe(303);
    expect((await logIn(owner, undefined, { counter: 0 })).status).toBe(303);
  });

  it('refuses the passkey of another user under the credential of the victim', async () => {
    const [victim, attacker] = [await ownerOfPasskey(), await ownerOfPasskey()];
    const { credentialId } = victim.authenticator;
    for (const handle of [
      {},
      { userHandle: Buffer.from(victim.id.replaceAll('-', ''), 'hex').toString('base64url') },
    ]) {
      const visitor = new Visitor(service);
      expectRefused(await logIn(attacker, visitor, { credentialId, ...handle }), visitor);
    }
  });

  it('gets the same response for disabled users and unknown passkeys', async () => {
    const owner = await ownerOfPasskey();
    await disable(service, owner);
    const disabled = await logIn(owner);
    const unknown = await logIn({ authenticator: new Authenticator(ORIGIN) });
    const comparable = ({ status, text }: PageResponse) => [
      status,
      text.replaceAll(/value="[\w-]{43}"/g, 'value=TOKEN'),
    ];
    expect(disabled.status).toBe(403);
    expect(comparable(disabled)).toEqual(comparable(unknown));
    expect((await auditOf(service, owner)).at(-1)).toBe('auth.login denied');
  });

  it('counts toward the limits on failed logins of the account, and shares them with the password', async () => {
    const owner = await ownerOfPasskey();
    const visitor = new Visitor(service);
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect((await visitor.logIn(owner.email, 'wrong password')).status).toBe(403);
    const locked = await logIn(owner, visitor);
    expect(locked.status).toBe(429);
    expect((await auditOf(service, owner)).at(-1)).toBe('auth.login denied');
    // The browser that the user has logged in with is not locked.
    expect((await logIn(owner, owner.visitor)).status).toBe(303);
  });

  it('limits unknown passkeys per IP address', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login');
    const attempt = async (): Promise<number> => {
      const authenticator = new Authenticator(ORIGIN);
      const credential = authenticator.get({ challenge: 'AAAA', rpId: 'dashboard.example.com' });
      return (await send(visitor, credential)).status;
    };
    expect(await Promise.all(Array.from({ length: 50 }, attempt))).toEqual(Array<number>(50).fill(403));
    expect(await attempt()).toBe(429);
  });

  it('limits challenges to 300 per IP address and hour', async () => {
    const visitor = new Visitor(service);
    await requestOptions(visitor);
    await service.database.query(
      `UPDATE attempt_count SET points = 300 WHERE key LIKE 'passkey-challenge:%'`,
    );
    expect((await visitor.submit('/login/passkey/options')).status).toBe(429);
    using _clock = moveClock(service, HOUR);
    await service.database.query(`DELETE FROM attempt_count WHERE key LIKE 'passkey-challenge:%'`);
  });

  it('counts the offers of the page apart, so that they do not use up the limit of the button', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login');
    const offer = () => visitor.submit('/login/passkey/options', { mediation: 'conditional' });
    const points = async (name: string) =>
      (
        await service.database.query<{ points: number }>(
          'SELECT sum(points)::integer AS points FROM attempt_count WHERE key LIKE $1',
          [`${name}:%`],
        )
      )[0]?.points;
    const before = await points('passkey-challenge');
    for (let view = 0; view < 3; view += 1) expect((await offer()).status).toBe(201);
    expect([await points('passkey-challenge'), await points('passkey-offer')]).toEqual([before, 3]);
    await service.database.query(`UPDATE attempt_count SET points = 3000 WHERE key LIKE 'passkey-offer:%'`);
    expect((await offer()).status).toBe(429);
    expect((await visitor.submit('/login/passkey/options')).status).toBe(201);
    await service.database.query(`DELETE FROM attempt_count WHERE key LIKE 'passkey-offer:%'`);
  });

  it.each([
    '{}',
    'null',
    '[]',
    '"text"',
    '{"response":{"clientDataJSON":"bnVsbA"},"id":"x"}',
    'x'.repeat(9_000),
  ])('refuses %.60j', async (credential) => {
    const visitor = new Visitor(service);
    await visitor.get('/login');
    expectRefused(await send(visitor, credential), visitor);
  });

  it('says that passkeys require JavaScript if the browser sent none', async () => {
    const visitor = new Visitor(service);
    const { status, text } = await visitor.fill('/login', {}, '/login/passkey');
    expect(status).toBe(400);
    expect(text).toContain('Passkeys require JavaScript');
  });
});

describe('A passkey counts as two factors', () => {
  const REQUIRED = '/account/second-factor';

  async function ownerWhoNeedsTwoFactors(): Promise<Owner & { organizationId: string }> {
    const { id: organizationId } = await service.anotherOrganization();
    const owner = await ownerOfPasskey(organizationId);
    await service.database.query(
      'UPDATE organization SET second_factor_required_from = now() WHERE id = $1',
      [organizationId],
    );
    return { ...owner, organizationId };
  }

  it('where the organization requires them, while the password alone does not', async () => {
    const owner = await ownerWhoNeedsTwoFactors();
    expect((await owner.visitor.get('/dashboard/users')).location).toBe(REQUIRED);
    expect((await logIn(owner, owner.visitor)).status).toBe(303);
    expect((await owner.visitor.get('/dashboard/users')).status).toBe(200);
    expect((await owner.visitor.get('/device')).status).toBe(200);
    const member = await service.login('member', owner.organizationId);
    const fields = { email: member.email, role: 'admin', reason: 'Stands in', expires_in: '3600' };
    const grant = () => owner.visitor.submit('/dashboard/access-grants/new', fields);
    await owner.visitor.get('/dashboard/access-grants/new');
    expect((await grant()).location).toBe('/dashboard/access-grants?done=granted');
    using _clock = moveClock(service, 6 * MINUTE);
    expect((await grant()).status).toBe(307);
  });

  it('so that no code is asked for, and lets the user approve a device', async () => {
    const owner = await ownerOfPasskey();
    await service.database.query('UPDATE dashboard_user SET totp_enabled_at = now() WHERE id = $1', [
      owner.id,
    ]);
    const visitor = new Visitor(service);
    expect((await visitor.logIn(owner.email, owner.password)).location).toBe('/login/second-factor');
    expect((await logIn(owner, visitor)).status).toBe(303);
    const flow = await startFlow(service);
    await decide(service, { cookie: `session=${visitor.session}` }, flow.user_code);
    const { status, body } = await poll(service, flow);
    expect(status).toBe(200);
    rememberSecret(String(body['access_token']));
  });

  it('until it is removed', async () => {
    const owner = await ownerWhoNeedsTwoFactors();
    await logIn(owner, owner.visitor);
    const [passkey] = await passkeysOf(owner);
    await owner.visitor.get(PATH);
    expect((await owner.visitor.submit(`${PATH}/${passkey?.id}/remove`)).status).toBe(303);
    expect((await owner.visitor.get('/dashboard/users')).location).toBe(REQUIRED);
  });

  it('so that an attacker with the password cannot add another factor', async () => {
    const owner = await ownerWhoNeedsTwoFactors();
    const attacker = await logInWithPassword(owner);
    const { text } = await attacker.get(REQUIRED);
    expect(text).toContain('Log in with your passkey');
    expect(text).not.toContain('action="/account/second-factor/setup"');
    await attacker.get(PATH);
    const [passkey] = await passkeysOf(owner);
    for (const [action, fields] of [
      [`${REQUIRED}/setup`, {}],
      [`${REQUIRED}/enable`, { code: '000000' }],
      [`${PATH}/options`, {}],
      [PATH, { name: 'Mine', credential: '{}' }],
      [`${PATH}/${passkey?.id}/rename`, { name: 'Mine' }],
      [`${PATH}/${passkey?.id}/remove`, {}],
    ] as const) {
      const { location, status, text: page } = await attacker.submit(action, fields);
      // A form whose input is kept is shown again, with a link.
      const leadsTo = status === 403 && page.includes(`href="${REQUIRED}"`) ? REQUIRED : location;
      expect([action, leadsTo]).toEqual([action, REQUIRED]);
    }
    expect(await passkeysOf(owner)).toMatchObject([{ name: 'Laptop' }]);
  });

  it('and can be added by users who lack a second factor', async () => {
    const { id: organizationId } = await service.anotherOrganization();
    await service.database.query(
      'UPDATE organization SET second_factor_required_from = now() WHERE id = $1',
      [organizationId],
    );
    const user = await addUser(service, organizationId);
    const visitor = await logInWithPassword(user);
    expect((await visitor.get(REQUIRED)).text).toContain('href="/account/passkeys"');
    const { authenticator, response } = await add(visitor);
    expect(response.status).toBe(303);
    expect((await logIn({ authenticator }, visitor)).status).toBe(303);
    expect((await visitor.get('/dashboard/users')).status).toBe(200);
  });
});
