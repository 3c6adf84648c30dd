import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND_TIMEOUT } from '../support/programs/commands.js';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { TestGateway } from '../support/merchants/merchant-gateway.js';
import { Program, run } from '../support/programs/program.js';
import { RECEIVER_CERTIFICATES, TEST_AUTHORITY } from '../support/webhooks/receiver-certificates.js';
import { describeWithRedis, RedisServer } from '../support/programs/redis-server.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { SmtpServer } from '../support/messages/smtp-server.js';
import { TlsFront } from '../support/http/tls-front.js';
import { startTraceCollector } from '../support/logs/trace-collector.js';
import { Twilio } from '../support/messages/twilio.js';

const CHECKS = ['redis', 'mail', 'text messages', 'merchant gateway'];
/** An authority that did not issue the certificates. */
const OTHER = RECEIVER_CERTIFICATES.selfSigned;
const key = (): string => randomBytes(32).toString('base64');

const folder = mkdtempSync(join(tmpdir(), 'authority-'));
const authority = join(folder, 'authority.pem');
writeFileSync(authority, TEST_AUTHORITY);
let database: TestDatabase;

describeWithRedis('A private authority in NODE_EXTRA_CA_CERTS', () => {
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(async () => {
    await Program.endAll();
    await database.drop();
  });

  it(
    'is trusted for every connection with TLS, also beside authorities of single settings',
    async () => {
      const [redis, mail, gateway, twilio, collector] = [
        await RedisServer.start({ tls: true }),
        await SmtpServer.start(),
        await TestGateway.start(),
        new Twilio({ tls: true }),
        await startTraceCollector(),
      ];
      await twilio.listen();
      // Its reply to a message without a recipient.
      twilio.status = 400;
      await using mailFront = await TlsFront.start(Number(new URL(mail.url).port));
      await using gatewayFront = await TlsFront.start(Number(new URL(gateway.url).port));
      await using collectorFront = await TlsFront.start(Number(new URL(collector.url).port));
      const environment = {
        PORT: '0',
        DATABASE_URL: database.url,
        DATA_DIR: join(folder, 'data'),
        SECRET_PEPPER: key(),
        KEY_ENCRYPTION_KEY: key(),
        WEBHOOK_TARGETS: 'any',
        WEBHOOK_EXTRA_CA: OTHER,
        REDIS_URL: `rediss://127.0.0.1:${redis.port}`,
        REDIS_CA: OTHER,
        SMTP_URL: `smtps://127.0.0.1:${mailFront.port}`,
        MAIL_FROM: 'service@example.com',
        MERCHANT_GATEWAY_URL: `https://127.0.0.1:${gatewayFront.port}`,
        MERCHANT_GATEWAY_SECRET: gateway.secret,
        TWILIO_API_URL: `https://127.0.0.1:${twilio.port}`,
        TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
        TWILIO_AUTH_TOKEN: key(),
        TWILIO_FROM: '+14155550100',
        OTEL_EXPORTER_OTLP_ENDPOINT: `https://127.0.0.1:${collectorFront.port}`,
      };
      rememberSecret(
        environment.SECRET_PEPPER,
        environment.KEY_ENCRYPTION_KEY,
        environment.TWILIO_AUTH_TOKEN,
      );
      const statuses = async (more: Record<string, string>): Promise<Record<string, string>> => {
        const { output } = await run('cli/main.js', {
          arguments: ['doctor'],
          environment: { ...environment, ...more },
        });
        const findings = JSON.parse(output) as { check: string; status: string }[];
        return Object.fromEntries(
          findings.filter(({ check }) => CHECKS.includes(check)).map(({ check, status }) => [check, status]),
        );
      };
      const all = (status: string): object => Object.fromEntries(CHECKS.map((check) => [check, status]));
      expect(await statuses({})).toEqual(all('failed'));
      expect(await statuses({ NODE_EXTRA_CA_CERTS: authority })).toEqual(all('ok'));

      const service = new Program('main.js', {
        environment: { ...environment, NODE_EXTRA_CA_CERTS: authority },
      });
      const [, baseUrl = ''] = await service.waitForOutput(/Listening on (\S+)\. Doc/);
      await fetch(`${baseUrl}/mcp/tokens/create`, { method: 'POST' });
      await eventually('the trace arrives', () => collector.spans.length > 0, 30_000);
      await collector.close();
      for (const each of [mail, gateway, twilio]) each.close();
    },
    2 * COMMAND_TIMEOUT,
  );
});
