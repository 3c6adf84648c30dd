import type { INestApplicationContext } from '@nestjs/common';
import { operatorMessageFor } from '../../infrastructure/bootstrap/index.js';
import {
  misspelledVariables,
  processEnvironment,
  ServiceConfiguration,
  type EncryptionRules,
  type LoadedConfiguration,
} from '../../infrastructure/config/index.js';
import {
  checkDistribution,
  DailyPartitions,
  DatabaseConfiguration,
  failedNodeConnections,
  MAX_CLOCK_LEAD,
  OVERDUE_AFTER,
  OverdueWork,
  inspectDatabase,
  inspectReplica,
  JobFailures,
  requireSessions,
  type DatabaseInspection,
} from '../../infrastructure/database/index.js';
import { checkDataDirectory } from '../../infrastructure/data-directory/index.js';
import { HttpClient, HttpClientConfiguration } from '../../infrastructure/http-client/index.js';
import {
  checkMail,
  checkTwilio,
  MailConfiguration,
  TextMessagesConfiguration,
} from '../../infrastructure/messages/index.js';
import { checkRedis, RedisConfiguration } from '../../infrastructure/redis/index.js';
import { Clock, HOUR } from '../../infrastructure/time/index.js';
import { Tracing } from '../../infrastructure/tracing/index.js';
import { withApplicationOf, withConfiguration } from '../command-process.js';
import { commandGroup } from '../operator-command.js';
import { EXIT, printResult } from '../output.js';

const MCP_TOKENS = 'mcp_token';
const PARTITIONED = ['request_log', 'webhook_event', MCP_TOKENS];

interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed';
  readonly finding: string;
  readonly remedy?: string;
}

type Verdict = Omit<Finding, 'check'>;

const ok = (finding: string): Verdict => ({ status: 'ok', finding });
const warning = (finding: string, remedy: string): Verdict => ({ status: 'warning', finding, remedy });
const failed = (finding: string, remedy: string): Verdict => ({ status: 'failed', finding, remedy });

/** Runs only with valid settings. The session reports invalid ones. */
export const DOCTOR_COMMAND = commandGroup('doctor').action(() =>
  withConfiguration((configuration) => new Examination(configuration).run(), { asService: true }),
);

class Examination {
  private readonly findings: Finding[] = [];

  constructor(private readonly configuration: LoadedConfiguration) {}

  async run(): Promise<void> {
    const { configuration } = this;
    this.add('settings', settingsVerdict());
    this.add('encryption', encryptionVerdict(configuration));
    await this.examine('data directory', () => dataDirectoryVerdict(configuration));
    await this.checkDatabase();
    await this.examine('redis', () => redisVerdict(configuration));
    await this.examine('mail', () => mailVerdict(configuration));
    await this.examine('text messages', () => textMessagesVerdict(configuration));
    await this.examine('merchant gateway', () => merchantGatewayVerdict(configuration));
    printResult(this.findings);
    if (this.findings.some(({ status }) => status === 'failed')) process.exitCode = EXIT.failed;
  }

  private async checkDatabase(): Promise<void> {
    const database = this.configuration.get(DatabaseConfiguration);
    const inspection = await inspectDatabase(database, () => new Clock().milliseconds()).catch(
      (error: unknown) => {
        const remedy = 'Fix this first, then run the command again to check the rest.';
        this.add('database', failed(operatorMessageFor(error), remedy));
      },
    );
    if (!inspection) return;
    this.add('database', ok(`PostgreSQL ${inspection.version} responds.`));
    this.add('role', roleVerdict(inspection));
    this.add('clock', clockVerdict(inspection));
    await this.examine('sessions', () => sessionsVerdict(database));
    if (database.readUrl !== undefined) await this.examine('read replica', () => replicaVerdict(database));
    const migrations = migrationsVerdict(inspection);
    this.add('migrations', migrations);
    if (migrations.status === 'failed') return;
    if (database.distribution !== 'none') {
      await this.examine('distribution', async () => {
        await checkDistribution(database);
        return ok('The database is distributed.');
      });
      if (this.findings.at(-1)?.status === 'failed') return;
      await this.examine('nodes', () => nodesVerdict(database));
    }
    // Checks the schema without migrating it.
    const unchanged = this.configuration.with(DatabaseConfiguration, { migrateOnStart: false });
    await withApplicationOf(unchanged, async (app) => {
      this.add('keys', ok('SECRET_PEPPER and KEY_ENCRYPTION_KEY are those of the database.'));
      for (const table of PARTITIONED) {
        await this.examine(`partitions of ${table}`, () => partitionsVerdict(app, table));
      }
      await this.examine('background work', () => jobsVerdict(app));
      await this.examine('single sign-on', () => certificatesVerdict(app));
      await this.examine('audit streams', () => auditStreamsVerdict(app));
      await this.examine('overdue work', () => overdueWorkVerdict(app));
      await this.examine('sandbox', () => sandboxVerdict(app, this.configuration));
    }).catch((error: unknown) => {
      const remedy =
        'If the message is about a key, set the keys that the database uses. Otherwise fix the cause.';
      this.add('keys', failed(operatorMessageFor(error), remedy));
    });
  }

  private async examine(check: string, verdict: () => Promise<Verdict>): Promise<void> {
    const remedy = 'Fix the cause, and run the command again.';
    this.add(check, await verdict().catch((error: unknown) => failed(operatorMessageFor(error), remedy)));
  }

  private add(check: string, verdict: Verdict): void {
    this.findings.push({ check, ...verdict });
  }
}

function settingsVerdict(): Verdict {
  const misspelled = misspelledVariables(processEnvironment());
  if (misspelled.length === 0) return ok('All settings are valid.');
  return warning(misspelled.join(' '), 'Correct the name, or remove the variable.');
}

function encryptionVerdict(configuration: LoadedConfiguration): Verdict {
  const plain = configuration
    .classes()
    .flatMap((each) => (configuration.get(each) as Partial<EncryptionRules>).unencryptedSettings?.() ?? []);
  if (plain.length === 0) return ok('Connections to databases and mail servers on other machines use TLS.');
  return warning(
    `Passwords and personal data are sent over the network without encryption: ${plain.toSorted().join(', ')}.`,
    'Use TLS (docs/tls.md), unless the network itself encrypts.',
  );
}

async function dataDirectoryVerdict(configuration: LoadedConfiguration): Promise<Verdict> {
  const { dataDirectory } = configuration.get(ServiceConfiguration);
  const problem = await checkDataDirectory(dataDirectory);
  if (problem) return (problem.isUsable ? warning : failed)(problem.finding, problem.remedy);
  const { countSavedFiles } = await import('../../modules/request-logs/index.js');
  const { refused } = await countSavedFiles(dataDirectory);
  if (refused === 0) return ok('Files can be written to DATA_DIR.');
  return warning(
    `The service could not write ${refused} files of request log entries to the log: DATA_DIR/request-log/*.refused.`,
    'Follow docs/runbooks.md, "RequestLogFilesLeft".',
  );
}

function roleVerdict({ role, excess }: DatabaseInspection): Verdict {
  if (excess === undefined) return ok(`The role ${role} cannot change the audit log.`);
  return warning(
    `The role ${role} is ${excess === 'superuser' ? 'a superuser' : 'an owner of the tables'}, and can remove the protection of the audit log.`,
    'Use two roles: docs/database.md, "Database roles".',
  );
}

function clockVerdict({ clockLead }: DatabaseInspection): Verdict {
  const finding = `The clocks of the database and of this machine differ by ${Math.abs(clockLead)} ms.`;
  return Math.abs(clockLead) <= MAX_CLOCK_LEAD
    ? ok(finding)
    : failed(finding, 'Synchronize both clocks (NTP).');
}

async function sessionsVerdict({ driverAddress }: DatabaseConfiguration): Promise<Verdict> {
  await requireSessions(driverAddress);
  return ok('Every connection is a session of its own.');
}

async function nodesVerdict(database: DatabaseConfiguration): Promise<Verdict> {
  const problems = await failedNodeConnections(database);
  if (problems.length === 0) return ok('Every node of the cluster can connect to every node.');
  return failed(
    problems.join(' '),
    'Check the nodes, their pg_hba.conf and their .pgpass: docs/distributed-log.md, "Move the request log to Citus".',
  );
}

async function replicaVerdict(database: DatabaseConfiguration): Promise<Verdict> {
  const inspection = await inspectReplica(database);
  if (inspection && 'seconds' in inspection) return ok(`The replica is ${inspection.seconds} s behind.`);
  return failed(
    inspection?.problem ?? 'There is no replica.',
    'Check DATABASE_READ_URL and the replication. Until then, queries use the primary.',
  );
}

function migrationsVerdict({
  migrations: { pending, changed, unknown, newer },
}: DatabaseInspection): Verdict {
  if (unknown.length + changed.length > 0) {
    return failed(
      `The schema is not that of this release: ${[...unknown, ...changed].join(', ')}.`,
      'Start the release that migrated the database, or restore a backup: docs/upgrades.md, "Drift".',
    );
  }
  if (pending.length > 0)
    return failed(`These migrations did not run: ${pending.join(', ')}.`, 'Run "mcs-admin migrate".');
  if (newer.length > 0)
    return warning(
      `A newer release has migrated the database: ${newer.join(', ')}.`,
      'Finish the upgrade: start the newer release everywhere.',
    );
  return ok('All migrations ran, and none changed since.');
}

async function partitionsVerdict(app: INestApplicationContext, table: string): Promise<Verdict> {
  const { daysAhead, hasMisplacedRows } = await app
    .get(DailyPartitions)
    .overview(table, app.get(Clock).now());
  const remedy = 'Start a worker, or a process with BACKGROUND_WORK=on, and read its log.';
  if (daysAhead < 1) return failed('No later day has a partition.', remedy);
  // Rows of other tables are moved to the partitions of their days.
  if (hasMisplacedRows && table !== MCP_TOKENS)
    return warning('The default partition contains rows.', remedy);
  return ok(`${daysAhead} of the coming days have partitions.`);
}

async function jobsVerdict(app: INestApplicationContext): Promise<Verdict> {
  const failures = await app.get(JobFailures).recent();
  if (failures.length === 0) return ok('No background work failed within the last hour.');
  const shown = failures.map(
    ({ job, cause, firstAt, lastAt }) =>
      `${job} since ${firstAt.toISOString()}, last at ${lastAt.toISOString()}: ${cause}`,
  );
  return warning(
    `Background work failed within the last hour, and is repeated. ${shown.join('; ')}.`,
    'Read the log of the workers: docs/runbooks.md, "BackgroundWorkFailing".',
  );
}

async function certificatesVerdict(app: INestApplicationContext): Promise<Verdict> {
  const { SamlCertificatesService } = await import('../../modules/single-sign-on/index.js');
  const [first, ...others] = await app.get(SamlCertificatesService).expiring();
  if (!first) return ok('No certificate of single sign-on expires within 30 days.');
  const { configuration, whose, expiresAt } = first;
  return warning(
    `Single sign-on certificates that expire within 30 days or have expired: ${others.length + 1}. The earliest is that of ${whose} for configuration ${configuration.id}: ${expiresAt.toISOString()}.`,
    'Tell the organization. Its owners and admins get an email 30 days and 7 days before a certificate expires.',
  );
}

async function auditStreamsVerdict(app: INestApplicationContext): Promise<Verdict> {
  const { AuditStreamsService, stateOf } = await import('../../modules/audit-streams/index.js');
  const states = (await app.get(AuditStreamsService).all())
    .map(stateOf)
    .filter((state) => state !== 'working');
  if (states.length === 0) return ok('No audit stream fails or is paused.');
  const count = (wanted: string): number => states.filter((state) => state === wanted).length;
  return warning(
    `Audit streams that are paused: ${count('paused')}. That fail at the receiver: ${count('failing')}. That fail on this side: ${count('failing_here')}.`,
    'Run "mcs-admin audit streams": docs/runbooks.md, "AuditStreamsStopped".',
  );
}

async function overdueWorkVerdict(app: INestApplicationContext): Promise<Verdict> {
  const all = [...(await app.get(OverdueWork).read())];
  const overdue = all.filter(([, milliseconds]) => milliseconds > OVERDUE_AFTER);
  if (overdue.length === 0) return ok('No background work is overdue.');
  const found = overdue.map(([work, milliseconds]) => `${work} (${Math.floor(milliseconds / HOUR)} hours)`);
  return warning(
    `Background work is overdue: ${found.join(', ')}.`,
    'Follow docs/runbooks.md, "WorkOverdue".',
  );
}

async function sandboxVerdict(
  app: INestApplicationContext,
  configuration: LoadedConfiguration,
): Promise<Verdict> {
  if (!configuration.get(ServiceConfiguration).isProduction)
    return ok('Anyone can log in as any user of the development environments: NODE_ENV is not production.');
  const { AgentSettingsService } = await import('../../modules/agent-authorization/index.js');
  const open = await app.get(AgentSettingsService).countOpenSandboxes();
  if (open === 0)
    return ok('Only users of the dashboard can log in as users of the development environments.');
  return warning(
    `Development environments whose owners let anyone log in as any user: ${open}.`,
    'Ask the owners whether they need it: Agents, Settings, in the development environment.',
  );
}

async function redisVerdict(configuration: LoadedConfiguration): Promise<Verdict> {
  const redis = configuration.get(RedisConfiguration);
  if (!redis.urls)
    return warning(
      'REDIS_URL is not set: each process counts rate limits by itself.',
      'Set REDIS_URL if more than one process serves HTTP.',
    );
  const problem = await checkRedis(redis);
  if (problem === undefined) return ok('Redis accepts writes.');
  return failed(`Redis cannot be used: ${problem}`, 'Check REDIS_URL, REDIS_CA and the rights of its user.');
}

async function mailVerdict(configuration: LoadedConfiguration): Promise<Verdict> {
  const mail = configuration.get(MailConfiguration);
  if (mail.smtpUrl === undefined) {
    return warning(
      'SMTP_URL is not set: emails are written to files, so nobody gets an invitation or a password reset link.',
      'Set SMTP_URL and MAIL_FROM.',
    );
  }
  const problem = await checkMail(mail, configuration.get(ServiceConfiguration));
  if (problem === undefined) return ok('The mail server accepts the login.');
  return failed(`The mail server cannot be used: ${problem}`, 'Check SMTP_URL.');
}

async function textMessagesVerdict(configuration: LoadedConfiguration): Promise<Verdict> {
  const { account } = configuration.get(TextMessagesConfiguration);
  if (!account)
    return warning(
      'TWILIO_ACCOUNT_SID is not set: text messages are written to files.',
      'Set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM if users get sign-in links.',
    );
  const http = new HttpClient(configuration.get(HttpClientConfiguration), new Clock(), new Tracing());
  const problem = await checkTwilio(account, http).finally(() => http.close());
  if (problem === undefined) return ok('The provider of text messages accepts the login.');
  return failed(
    `Text messages cannot be sent: ${problem}`,
    'Check TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_API_URL.',
  );
}

async function merchantGatewayVerdict(configuration: LoadedConfiguration): Promise<Verdict> {
  // Imported here, because the help of the command must not load the modules.
  const { checkMerchantGateway, MerchantGatewayConfiguration } =
    await import('../../modules/merchant-gateway/index.js');
  const gateway = configuration.get(MerchantGatewayConfiguration);
  if (!gateway.address)
    return warning(
      'MERCHANT_GATEWAY_URL is not set: sign-in to merchants is not configured in production.',
      'Set MERCHANT_GATEWAY_URL and MERCHANT_GATEWAY_SECRET if agents connect accounts: docs/merchant-gateway.md.',
    );
  const problem = await checkMerchantGateway(gateway);
  if (problem === undefined) return ok('The merchant gateway accepts the signature, and has a usable key.');
  return failed(
    `The merchant gateway cannot be used: ${problem}`,
    'Check MERCHANT_GATEWAY_URL, MERCHANT_GATEWAY_SECRET and the log of the gateway.',
  );
}
