/** Starts Keycloak from its distribution, and talks to it: its REST API for administrators, and its login page. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import {
  RECEIVER_CERTIFICATES,
  RECEIVER_KEY,
  TEST_AUTHORITY,
} from '../../support/webhooks/receiver-certificates.ts';

const START_TIMEOUT = 120_000;
const REALM = 'example';

/** A browser that keeps cookies, and does not follow redirects. */
export class Browser {
  #cookies = new Map();
  #dispatcher = new Agent({ connect: { ca: TEST_AUTHORITY } });

  async request(url, fields) {
    const response = await fetch(url, {
      dispatcher: this.#dispatcher,
      redirect: 'manual',
      headers: { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const location = response.headers.get('location');
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    };
  }
}

const unescaped = (text) => text.replaceAll('&amp;', '&').replaceAll('&#x3a;', ':').replaceAll('&#x2f;', '/');

/** Returns the form of a page. */
export function formOf(text) {
  const [, action = ''] = /<form[^>]*action="([^"]+)"/i.exec(text) ?? [];
  const fields = [...text.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/gi)];
  return {
    action: unescaped(action),
    fields: Object.fromEntries(fields.map(([, name, value]) => [name, unescaped(value)])),
  };
}

export async function startKeycloak(home) {
  const directory = mkdtempSync(join(tmpdir(), 'keycloak-'));
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')];
  writeFileSync(certificate, RECEIVER_CERTIFICATES.trusted);
  writeFileSync(key, RECEIVER_KEY);
  const port = await freePort();
  const child = spawn(
    join(home, 'bin/kc.sh'),
    [
      'start-dev',
      '--http-enabled=false',
      '--http-host=127.0.0.1',
      `--https-port=${port}`,
      `--https-certificate-file=${certificate}`,
      `--https-certificate-key-file=${key}`,
      '--db=dev-mem',
      '--cache=local',
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        JAVA_OPTS_KC_HEAP: '-Xms128m -Xmx512m',
        KC_BOOTSTRAP_ADMIN_USERNAME: 'admin',
        KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin',
      },
      detached: true,
    },
  );
  let log = '';
  child.stdout.on('data', (chunk) => (log += chunk));
  const began = performance.now();
  const keycloak = new Keycloak(`https://127.0.0.1:${port}`, async () => {
    process.kill(-child.pid, 'SIGTERM');
    await once(child, 'close');
    rmSync(directory, { recursive: true, force: true });
  });
  while (!(await keycloak.isReady())) {
    if (child.exitCode !== null || performance.now() - began > START_TIMEOUT)
      throw new Error(`Keycloak did not start:\n${log}`);
    await pause(250);
  }
  keycloak.version = /Keycloak (\S+) on JVM/.exec(log)?.[1];
  keycloak.startedAfter = Math.round((performance.now() - began) / 1_000);
  await keycloak.logIn();
  return keycloak;
}

class Keycloak {
  #browser = new Browser();
  #dispatcher = new Agent({ connect: { ca: TEST_AUTHORITY } });
  #token = '';

  constructor(url, close) {
    this.url = url;
    this.close = close;
    this.issuer = `${url}/realms/${REALM}`;
    this.samlMetadataUrl = `${this.issuer}/protocol/saml/descriptor`;
  }

  async isReady() {
    return (await this.#browser.request(`${this.url}/realms/master`).catch(() => ({}))).status === 200;
  }

  async logIn() {
    const { text } = await this.#browser.request(`${this.url}/realms/master/protocol/openid-connect/token`, {
      grant_type: 'password',
      client_id: 'admin-cli',
      username: 'admin',
      password: 'admin',
    });
    this.#token = JSON.parse(text).access_token;
    await this.#admin('', { realm: REALM, enabled: true, sslRequired: 'none', accessTokenLifespan: 3_600 });
  }

  /** Sends a value, or reads one. @returns the value, or the ID of what was created */
  async #admin(
    path,
    value,
    { method = value === undefined ? 'GET' : 'POST', type = 'application/json' } = {},
  ) {
    if (method !== 'GET' || path !== '') await this.#renew();
    const response = await fetch(`${this.url}/admin/realms${path}`, {
      dispatcher: this.#dispatcher,
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': type },
      ...(value !== undefined && { body: typeof value === 'string' ? value : JSON.stringify(value) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? response.headers.get('location')?.split('/').at(-1) : JSON.parse(text);
  }

  /** Tokens of administrators last a minute. */
  async #renew() {
    const { text } = await this.#browser.request(`${this.url}/realms/master/protocol/openid-connect/token`, {
      grant_type: 'password',
      client_id: 'admin-cli',
      username: 'admin',
      password: 'admin',
    });
    this.#token = JSON.parse(text).access_token;
  }

  addUser({ email, emailVerified = true, groups = [] }) {
    return this.#admin(`/${REALM}/users`, {
      username: email,
      email,
      emailVerified,
      enabled: true,
      firstName: 'Ada',
      lastName: 'Lovelace',
      groups,
      credentials: [{ type: 'password', value: 'password', temporary: false }],
    });
  }

  changeUser(id, changes) {
    return this.#admin(`/${REALM}/users/${id}`, changes, { method: 'PUT' });
  }

  addGroup(name) {
    return this.#admin(`/${REALM}/groups`, { name });
  }

  /** Adds a client of OpenID Connect. */
  addOpenidClient({ clientId, secret, redirectUri, attributes = {} }) {
    return this.#admin(`/${REALM}/clients`, {
      clientId,
      secret,
      protocol: 'openid-connect',
      publicClient: secret === undefined,
      standardFlowEnabled: true,
      redirectUris: [redirectUri],
      attributes,
      protocolMappers: [
        {
          name: 'groups',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-group-membership-mapper',
          config: {
            'claim.name': 'groups',
            'full.path': 'false',
            'id.token.claim': 'true',
            'userinfo.token.claim': 'true',
          },
        },
      ],
    });
  }

  /** Adds a client of SAML as Keycloak reads it from our metadata. */
  async addSamlClient(metadata, attributes = {}) {
    const client = await this.#admin(`/${REALM}/client-description-converter`, metadata, {
      method: 'POST',
      type: 'application/xml',
    });
    return this.#admin(`/${REALM}/clients`, {
      ...client,
      attributes: { ...client.attributes, ...attributes },
      protocolMappers: [
        {
          name: 'email',
          protocol: 'saml',
          protocolMapper: 'saml-user-property-mapper',
          config: { 'user.attribute': 'email', 'attribute.name': 'email', 'attribute.nameformat': 'Basic' },
        },
        {
          name: 'groups',
          protocol: 'saml',
          protocolMapper: 'saml-group-membership-mapper',
          config: { 'attribute.name': 'groups', 'full.path': 'false', single: 'true' },
        },
      ],
    });
  }

  /** Adds a key. The active key with the highest priority signs; the metadata contain all. */
  async addSigningKey(priority) {
    const { id } = await this.#admin(`/${REALM}`);
    return this.#admin(`/${REALM}/components`, {
      name: `key ${priority}`,
      parentId: id,
      providerId: 'rsa-generated',
      providerType: 'org.keycloak.keys.KeyProvider',
      config: { priority: [String(priority)], enabled: ['true'], active: ['true'], algorithm: ['RS256'] },
    });
  }

  async setPriority(keyId, priority) {
    const component = await this.#admin(`/${REALM}/components/${keyId}`);
    component.config.priority = [String(priority)];
    await this.#admin(`/${REALM}/components/${keyId}`, component, { method: 'PUT' });
  }

  /**
   * Logs in on the page of Keycloak.
   *
   * @returns where it sends the browser, with the form that it sends there, and whether it asked for the password
   */
  async visit(url, email, browser = new Browser()) {
    let response = await browser.request(url);
    let wasAsked = false;
    for (let steps = 0; steps < 5; steps += 1) {
      const { action, fields } = formOf(response.text);
      if (response.location?.startsWith(this.url)) response = await browser.request(response.location);
      else if (response.location !== undefined) return { wasAsked, location: response.location };
      else if ('SAMLResponse' in fields) return { wasAsked, location: action, fields };
      else if (/name="password"/.test(response.text) && steps < 3) {
        wasAsked = true;
        response = await browser.request(action, { username: email, password: 'password', credentialId: '' });
      } else break;
    }
    const [, problem = response.text.slice(0, 200)] =
      /(?:kc-feedback-text|instruction|id="input-error"[^>]*)"?[^>]*>\s*([^<]+)/.exec(response.text) ?? [];
    return { problem: problem.trim() };
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
