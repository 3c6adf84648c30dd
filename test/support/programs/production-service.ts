import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Commands } from './commands.js';
import { startConnectProxy } from '../http/connect-proxy.js';
import { cloneDatabase, type TestDatabase } from '../database/database.js';
import { eventually } from '../eventually.js';
import { Program } from './program.js';
import { TEST_AUTHORITY } from '../webhooks/receiver-certificates.js';
import { rememberSecret } from '../runner/run-directory.js';
import { basic } from '../test-app.js';
import { Twilio } from '../messages/twilio.js';
import { BEHIND_PROXY } from '../pages/visitor.js';

/** A process that runs as docs/operations-start.md starts it in production, and sends its text messages to a stand-in for Twilio. */
export interface ProductionService {
  readonly baseUrl: string;
  readonly program: Program;
  readonly database: TestDatabase;
  readonly commands: Commands;
  /** A new organization. */
  readonly organizationId: string;
  /** The credentials of its client in production. */
  readonly clientId: string;
  readonly secret: string;
  /** Sends JSON with the credentials of the client, or with a service token. */
  request<Body>(path: string, body: object, serviceToken?: string): Promise<Body>;
  /** Waits for the text message to a phone number. @returns the path of its sign-in link */
  linkSentTo(phoneNumber: string): Promise<string>;
  close(): Promise<void>;
}

const key = (): string => randomBytes(32).toString('base64');

/** @param more settings in addition to those that production requires, such as those of the merchant gateway */
export async function startProductionService(more: Record<string, string>): Promise<ProductionService> {
  const [database, twilio] = [await cloneDatabase({ empty: true }), new Twilio({ tls: true })];
  await twilio.listen();
  // The service sends text messages to public addresses only. The proxy stands between them and this machine.
  const proxy = await startConnectProxy();
  const environment = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: '0',
    SURFACES: 'platform,connector,internal',
    PLATFORM_URL: 'https://api.example.com',
    DATABASE_URL: database.url,
    DATA_DIR: mkdtempSync(join(tmpdir(), 'data-')),
    SECRET_PEPPER: key(),
    KEY_ENCRYPTION_KEY: key(),
    TWILIO_ACCOUNT_SID: 'AC0123456789abcdef0123456789abcdef',
    TWILIO_AUTH_TOKEN: randomBytes(16).toString('hex'),
    TWILIO_FROM: '+12125550199',
    TWILIO_API_URL: `https://twilio.example.com:${twilio.port}`,
    OUTBOUND_PROXY_URL: proxy.url,
    WEBHOOK_EXTRA_CA: TEST_AUTHORITY,
    ...BEHIND_PROXY,
    ...more,
  };
  rememberSecret(environment.SECRET_PEPPER, environment.KEY_ENCRYPTION_KEY, environment.TWILIO_AUTH_TOKEN);
  const program = new Program('main.js', { environment });
  const [, baseUrl = ''] = await program.waitForOutput(/Listening on (http:\/\/[\d.]+:\d+)/);
  // Commands need no settings of Node.js that are meant for the service.
  const { NODE_OPTIONS: _, ...settings } = environment as Record<string, string>;
  const commands = new Commands(settings);
  const {
    organization_id: organizationId,
    production,
    dashboard,
  } = await commands.result<{
    organization_id: string;
    production: { client_id: string; secret: string };
    dashboard: { password: string };
  }>('organization create --name Acme --owner-email ada@example.com --owner-name Ada');
  const { client_id: clientId, secret } = production;
  rememberSecret(secret, dashboard.password);
  return {
    baseUrl,
    program,
    database,
    commands,
    organizationId,
    clientId,
    secret,
    async request<Body>(path: string, body: object, serviceToken?: string): Promise<Body> {
      const response = await fetch(`${baseUrl}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: serviceToken === undefined ? basic({ clientId, secret }) : `Bearer ${serviceToken}`,
        },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      expect({ status: response.status, text }).toMatchObject({ status: 200 });
      return JSON.parse(text) as Body;
    },
    async linkSentTo(phoneNumber) {
      const body = await eventually('a text message arrives', () => twilio.messagesTo(phoneNumber)[0]);
      const [path = '', token = ''] = /\/sign-in\/(\w+)/.exec(body) ?? [];
      rememberSecret(token);
      return path;
    },
    async close() {
      await Program.endAll();
      await proxy.close();
      twilio.close();
      await database.drop();
    },
  };
}
