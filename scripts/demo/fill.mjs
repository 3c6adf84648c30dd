import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AppModule } from '../../dist/src/app.module.js';
import { prepareProcess, prepareSchema } from '../../dist/src/infrastructure/bootstrap/index.js';
import { PartitionRotation } from '../../dist/src/infrastructure/database/index.js';
import { Clock } from '../../dist/src/infrastructure/time/index.js';
import { AuditLog } from '../../dist/src/modules/audit-logs/index.js';
import { DashboardUsersService } from '../../dist/src/modules/dashboard-users/index.js';
import { FirstOrganization } from '../../dist/src/modules/organizations/index.js';
import { RequestLogRepository, RequestLogRollupsService } from '../../dist/src/modules/request-logs/index.js';
import { WebhookEndpointsService } from '../../dist/src/modules/webhook-endpoints/index.js';
import { exampleEvent } from '../../dist/src/modules/webhooks/index.js';
import { newEvent } from '../../dist/src/modules/webhooks/events/event-body.js';
import { AGENTS, DOMAIN, ENDPOINTS, externalUserId, USERS } from './names.mjs';
import { Random } from './random.mjs';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const DAYS = 7;
const REQUESTS_PER_DAY = { production: 260, development: 70 };
const EVENTS_PER_DAY = { production: 75, development: 18 };
const EXTERNAL_USERS = 140;
/** Seconds before the second and the third attempt. */
const RETRIES = [190, 320];
const [LOGIN, BACKEND] = [{ proof: 'partner_login' }, { source: 'backend' }];
/** Links in every state, from everybody who creates links. */
const LINKS = [
  ['completed', { ...BACKEND, ...LOGIN, attempts: 1 }],
  ['pending', { ...BACKEND, ...LOGIN }],
  ['cancelled', { cancelledBy: 'user' }],
  ['failed', { attempts: 1 }],
  ['pending', { hasExpired: true }],
  ['cancelled', { ...LOGIN, cancelledBy: 'revocation' }],
  ['failed', { ...BACKEND, attempts: 5 }],
  ['completed', { attempts: 2 }],
  ['cancelled', { ...BACKEND, ...LOGIN, cancelledBy: 'backend' }],
  ['failed', { attempts: 0 }],
  ['cancelled', { cancelledBy: 'agent' }],
  ['pending', { source: 'dashboard', ...LOGIN }],
  ['cancelled', { source: 'dashboard', cancelledBy: 'dashboard' }],
  ['cancelled', { cancelledBy: 'other_link' }],
];
const ORIGINS = [
  {
    ip: '198.51.100.24',
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  },
  {
    ip: '203.0.113.77',
    userAgent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  },
  {
    ip: '2001:db8:4c1f::17',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0',
  },
];

/**
 * Fills an empty database with an organization and a week of its traffic. A database that has an organization stays as it is.
 *
 * @returns what to print: how to log in
 */
export async function fillDemo(environment) {
  const process_ = await prepareProcess(environment, (message) => process.stderr.write(`${message}\n`), {
    writesFiles: true,
  });
  try {
    await prepareSchema(process_.configuration);
    const app = await NestFactory.createApplicationContext(
      AppModule.register(process_.configuration, { backgroundWork: false }),
      { logger: ['error', 'warn'] },
    );
    try {
      return await new Demo(app).fill();
    } finally {
      await app.close();
    }
  } finally {
    await process_.release();
  }
}

class Demo {
  random = new Random(20_260_101);
  now = Date.now();

  constructor(app) {
    this.app = app;
    this.dataSource = app.get(DataSource);
    this.clock = app.get(Clock);
  }

  async fill() {
    const [{ count }] = await this.query('SELECT count(*)::int AS count FROM organization');
    if (count > 0) return '';
    // Ends the rotation that the start began in the background, which would create the same partitions, and fails while the clock is set
    // back.
    for (let run = 0; run < 2; run += 1) await this.app.get(PartitionRotation).run();
    const introduction = await this.at(this.now - 220 * DAY, () =>
      this.app.get(FirstOrganization).provide(`http://127.0.0.1:${process.env.PORT ?? 3000}`),
    );
    await this.createPartitions();
    [this.organization] = await this.query(
      `UPDATE organization SET name = 'Northwind Pay', activated_at = created_at RETURNING id`,
    ).then(([rows]) => rows);
    const clients = await this.query(
      'SELECT id AS "clientId", environment FROM api_client ORDER BY environment',
    );
    this.merchants = await this.query('SELECT id, name FROM merchant ORDER BY id LIMIT 40');
    await this.addUsers();
    await this.addEndpoints();
    this.externalUsers = Array.from({ length: EXTERNAL_USERS }, (_, index) =>
      externalUserId(this.random, index),
    );
    this.entries = [];
    this.events = [];
    this.deliveries = [];
    for (const client of clients) await this.addTraffic(client);
    await this.write();
    await this.addAuditEntries();
    const rollups = this.app.get(RequestLogRollupsService);
    await rollups.update();
    await rollups.backfill();
    return introduction;
  }

  query(statement, values) {
    return this.dataSource.query(statement, values);
  }

  /** Runs the work as if it were this time. */
  async at(time, work) {
    this.clock.now = () => new Date(time);
    this.clock.milliseconds = () => time;
    try {
      return await work();
    } finally {
      delete this.clock.now;
      delete this.clock.milliseconds;
    }
  }

  async createPartitions() {
    for (let day = DAYS; day >= 0; day -= 1)
      for (const table of ['request_log', 'webhook_event'])
        await this.query('SELECT create_daily_partition($1, $2)', [table, new Date(this.now - day * DAY)]);
  }

  async addUsers() {
    const service = this.app.get(DashboardUsersService);
    this.users = [];
    for (const [name, role, days, { twoFactor, disabled, invited }] of USERS) {
      const [first, ...rest] = name
        .normalize('NFD')
        .replaceAll(/[^A-Za-z ]/g, '')
        .toLowerCase()
        .split(' ');
      const email = `${first}.${rest.join('')}@${DOMAIN}`;
      const addedAt = this.now - days * DAY;
      const user = { organizationId: this.organization.id, email, name, role };
      const { id } = await this.at(addedAt, async () => service.add(await service.prepare(user)));
      const sessionId = this.random.uuid();
      this.users.push({ id, name, email, role, sessionId, isActive: !disabled && !invited });
      await this.query(
        `UPDATE dashboard_user SET password_hash = CASE WHEN $2 THEN NULL ELSE password_hash END,
                disabled_at = $3, totp_enabled_at = $4 WHERE id = $1`,
        [
          id,
          Boolean(invited),
          disabled ? new Date(this.now - 20 * DAY) : null,
          twoFactor ? new Date(addedAt + DAY) : null,
        ],
      );
      if (disabled || invited) continue;
      const loggedInAt = new Date(this.now - this.random.integer(1, 70) * HOUR);
      await this.query(`INSERT INTO known_browser (digest, user_id, logged_in_at) VALUES ($1, $2, $3)`, [
        randomBytes(32),
        id,
        loggedInAt,
      ]);
      await this.query(
        `INSERT INTO dashboard_session (id, token_hash, user_id, stage, authenticated_at, expires_at, ip, user_agent)
         VALUES ($1, $2, $3, 'complete', $4, $5, $6, $7)`,
        [
          sessionId,
          randomBytes(32),
          id,
          loggedInAt,
          new Date(+loggedInAt + 3 * DAY),
          ORIGINS[email.length % ORIGINS.length].ip,
          ORIGINS[email.length % ORIGINS.length].userAgent,
        ],
      );
    }
  }

  actor({ id, name, email, role, sessionId } = this.users[0]) {
    return {
      userId: id,
      organizationId: this.organization.id,
      name,
      email,
      role,
      origin: ORIGINS[email.length % ORIGINS.length],
      credential: { kind: 'session', sessionId, authenticatedAt: new Date(this.now) },
    };
  }

  async addEndpoints() {
    const service = this.app.get(WebhookEndpointsService);
    this.endpoints = [];
    for (const [index, { paused, events = null, ...endpoint }] of ENDPOINTS.entries()) {
      const { environment, url, description } = endpoint;
      const request = { environment, url, description, events, ...(paused && { status: 'paused' }) };
      const createdAt = this.now - (40 - 8 * index) * DAY;
      const { id } = await this.at(createdAt, () => service.create(this.actor(), request));
      this.endpoints.push({ ...endpoint, id, events, paused });
    }
  }

  /** Returns times of the week, in order: more by day than at night, and fewer at the weekend. */
  times(perDay) {
    const times = [];
    const start = this.now - DAYS * DAY;
    while (times.length < perDay * DAYS) {
      const time = start + this.random.number() * DAYS * DAY;
      const [hour, weekday] = [new Date(time).getUTCHours(), new Date(time).getUTCDay()];
      const isBusy = hour >= 7 && hour <= 20 && weekday !== 0 && weekday !== 6;
      if (isBusy || this.random.chance(0.3)) times.push(Math.floor(time));
    }
    return times.toSorted((left, right) => left - right);
  }

  async addTraffic(client) {
    this.addRequests(client);
    this.addEvents(client);
    await this.addUserData(client);
  }

  addRequests(client) {
    const kinds = [
      ['/mcp/tokens/create', 14, 6],
      ['/detected-accounts/search', 22, 3],
      ['/session/create', 19, 3],
      ['/session/extend', 11, 1],
      ['/merchant-accounts', 16, 2],
      ['/detected_accounts/identify', 24, 1],
    ].flatMap(([path, latency, weight]) => Array.from({ length: weight }, () => ({ path, latency })));
    for (const time of this.times(REQUESTS_PER_DAY[client.environment])) {
      const { path, latency } = this.random.of(kinds);
      const failure =
        this.random.chance(client.environment === 'production' ? 0.025 : 0.09) && this.failure(path);
      this.entries.push({
        ...EMPTY_ENTRY,
        ...client,
        createdAt: new Date(time),
        type: 'request',
        method: path === '/merchant-accounts' ? 'GET' : 'POST',
        path,
        latencyMilliseconds: this.random.latency(latency),
        externalUserId: this.random.chance(0.08) ? null : this.random.of(this.externalUsers),
        requestId: randomUUID(),
        ...callerOf(path),
        ...failure,
      });
    }
  }

  failure(path) {
    const [statusCode, errorCode, errorMessage] = this.random.of([
      [
        400,
        'INVALID_FIELD',
        path.includes('tokens')
          ? 'phone_number must be a phone number of the US or Canada, in E.164 format.'
          : 'external_user_id is required.',
      ],
      [400, 'INVALID_JSON', 'The body is not valid JSON.'],
      [429, 'TOO_MANY_REQUESTS', 'Too many requests. Try again in 12 seconds.'],
      [404, 'SESSION_NOT_FOUND', 'There is no session with this ID, or it has expired.'],
      [503, 'SERVICE_UNAVAILABLE', 'The service is temporarily unavailable. Try again later.'],
    ]);
    return { statusCode, errorCode, errorMessage, requestId: this.random.uuid() };
  }

  addEvents(client) {
    const names = [
      'CARD_UPDATED',
      'CARD_UPDATED',
      'CARD_UPDATED',
      'AUTHENTICATED',
      'AUTHENTICATED',
      'CARD_FAILED',
      'NEW_TRANSACTIONS_AVAILABLE',
      'NEW_DETECTED_ACCOUNTS_AVAILABLE',
      'ACCOUNT_LOGIN_REQUIRED',
      'MERCHANT_STATUS_UPDATE',
    ];
    let taskId = 25_600;
    for (const time of this.times(EVENTS_PER_DAY[client.environment])) {
      const example = exampleEvent(this.random.of(names));
      const event = {
        ...newEvent(
          client,
          {
            ...example,
            ...(example.externalUserId && { externalUserId: this.random.of(this.externalUsers) }),
            ...(example.merchant && { merchant: this.random.of(this.merchants) }),
            ...(example.sessionId && { sessionId: this.random.uuid(), taskId: (taskId += 1) }),
          },
          new Date(time),
        ),
        id: this.random.uuid(),
      };
      this.events.push(event);
      for (const endpoint of this.endpoints) {
        if (endpoint.environment !== client.environment || endpoint.paused) continue;
        if (endpoint.events && !endpoint.events.includes(event.name)) continue;
        this.deliver(client, event, endpoint);
      }
    }
  }

  deliver(client, event, endpoint) {
    let time = event.createdAt.getTime() + this.random.integer(3, 40);
    for (let number = 1; number <= 3; number += 1) {
      const isDown = endpoint.failsForHours && time > this.now - endpoint.failsForHours * HOUR;
      const hasFailed = isDown || this.random.chance(endpoint.failureRate ?? 0);
      const latency = this.random.latency(endpoint.latency);
      if (time + latency > this.now) return this.deliveries.push({ event, endpoint, attempts: number - 1 });
      this.entries.push({
        ...EMPTY_ENTRY,
        ...client,
        createdAt: new Date(time),
        type: 'webhook',
        method: 'POST',
        url: endpoint.url.replace(/tenant=.*/, 'tenant=***'),
        event: event.name,
        latencyMilliseconds: latency,
        sessionId: event.sessionId,
        taskId: event.taskId,
        externalUserId: event.externalUserId,
        attempt: {
          endpointId: endpoint.id,
          eventId: event.id,
          number,
          reason: null,
          phases: { dns: 1, connect: 12, tls: 25, firstByte: Math.max(1, latency - 45) },
        },
        ...(hasFailed && this.failedAttempt(endpoint, event, number, isDown, latency)),
      });
      if (!hasFailed) {
        endpoint.lastSuccessAt = new Date(time);
        return undefined;
      }
      endpoint.lastFailureAt = new Date(time);
      if (isDown) endpoint.failures = (endpoint.failures ?? 0) + 1;
      time += (RETRIES[number - 1] ?? 0) * SECOND;
    }
    return undefined;
  }

  failedAttempt(endpoint, event, number, isDown, latency) {
    const attempt = { endpointId: endpoint.id, eventId: event.id, number };
    if (!isDown && this.random.chance(0.3)) {
      const phases = { dns: 1, connect: 12, tls: 25, firstByte: null };
      return {
        statusCode: 0,
        latencyMilliseconds: 10_000,
        attempt: { ...attempt, reason: 'TIMEOUT', phases },
      };
    }
    const phases = { dns: 1, connect: 12, tls: 25, firstByte: Math.max(1, latency - 45) };
    return {
      statusCode: isDown ? 503 : this.random.of([500, 502]),
      attempt: {
        ...attempt,
        reason: 'NON_200',
        phases,
        responseBody: isDown
          ? '{"error":"The ingest queue is full. Contact data-platform."}'
          : 'Internal Server Error',
      },
    };
  }

  /** Accounts, sessions, sign-in links and agents of the users of a client. */
  async addUserData({ clientId, environment }) {
    const since = () => new Date(this.now - this.random.number() * 30 * DAY);
    const users = this.externalUsers.slice(0, environment === 'production' ? 110 : 30);
    for (const [index, user] of users.entries()) {
      const merchants = new Map(
        Array.from({ length: this.random.integer(1, 4) }, () => this.random.of(this.merchants)).map((one) => [
          one.id,
          one,
        ]),
      );
      for (const { id } of merchants.values()) {
        const state = this.random.chance(0.85) ? 'connected' : 'disconnected';
        await this.query(
          `INSERT INTO merchant_account (client_id, external_user_id, merchant_id, state, since) VALUES ($1, $2, $3, $4, $5)`,
          [clientId, user, id, state, since()],
        );
        await this.query(
          'INSERT INTO detected_account (client_id, external_user_id, merchant_id, detected_at) VALUES ($1, $2, $3, $4)',
          [clientId, user, id, since()],
        );
      }
      if (this.random.chance(0.4)) await this.addSession(clientId, user);
      if (this.random.chance(0.25)) await this.addSignInLink(clientId, environment, user);
      // Not by chance, so that the list is always longer than a window.
      if (index % 5 === 0) await this.addAgent(clientId, user);
    }
  }

  async addSession(clientId, user) {
    const createdAt = this.now - this.random.integer(1, 40) * MINUTE;
    await this.query(
      `INSERT INTO session (id, client_id, type, external_user_id, card_id, metadata, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        this.random.uuid(),
        clientId,
        this.random.of(['card_switcher', 'link', 'vault']),
        user,
        `card-${this.random.hex(6)}`,
        { plan: this.random.of(['basic', 'plus']) },
        new Date(createdAt),
        new Date(createdAt + HOUR),
      ],
    );
  }

  async addSignInLink(clientId, environment, user) {
    this.links ??= 0;
    const [status, details] = LINKS[this.links % LINKS.length];
    this.links += 1;
    const isOpen = status === 'pending' && !details.hasExpired;
    const createdAt = this.now - this.random.integer(5, isOpen ? 40 : 6 * 24 * 60) * MINUTE;
    const lifetime = isOpen ? 24 * HOUR : 15 * MINUTE;
    const finishedAt = status === 'pending' ? createdAt + lifetime : createdAt + 2 * MINUTE;
    const { source = 'agent', proof = 'phone', cancelledBy = null, attempts = 0 } = details;
    await this.query(
      `INSERT INTO sign_in_link (id, token_hash, client_id, environment, external_user_id, merchant_id, status, source, proof,
                                 cancelled_by, attempts, created_at, expires_at, finished_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
      [
        this.random.uuid(),
        digest(this.random),
        clientId,
        environment,
        user,
        this.random.of(this.merchants).id,
        status,
        source,
        proof,
        cancelledBy,
        attempts,
        new Date(createdAt),
        new Date(createdAt + lifetime),
        isOpen ? null : new Date(finishedAt),
      ],
    );
  }

  async addAgent(clientId, user) {
    const [name, host] = this.random.of(AGENTS);
    const createdAt = this.now - this.random.integer(1, 29) * DAY;
    await this.query(
      `INSERT INTO agent_connection (id, client_id, external_user_id, agent_id, agent_name, agent_host, scopes, created_at,
                                     used_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, '{accounts:read}', $7, $8, $9)`,
      [
        this.random.uuid(),
        clientId,
        user,
        `https://${host}/oauth/client.json`,
        name,
        host,
        new Date(createdAt),
        new Date(this.now - this.random.integer(1, 20) * HOUR),
        new Date(createdAt + 90 * DAY),
      ],
    );
  }

  async write() {
    this.entries.sort((left, right) => left.createdAt - right.createdAt);
    const log = this.app.get(RequestLogRepository);
    for (let first = 0; first < this.entries.length; first += 1_000) {
      const batch = this.entries.slice(first, first + 1_000);
      await this.dataSource.transaction(() => log.append(batch));
    }
    for (const event of this.events) {
      await this.query(
        `INSERT INTO webhook_event (id, created_at, client_id, environment, event, session_id, task_id, external_user_id, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          event.id,
          event.createdAt,
          event.clientId,
          event.environment,
          event.name,
          event.sessionId,
          event.taskId,
          event.externalUserId,
          event.body,
        ],
      );
    }
    for (const { event, endpoint, attempts } of this.deliveries) {
      await this.query(
        `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts, attempts_allowed, due_at)
         VALUES ($1, $2, $3, $4, $5, 3, now() + interval '4 minutes')`,
        [endpoint.id, event.id, event.createdAt, endpoint.url, attempts],
      );
    }
    for (const { id, lastSuccessAt, lastFailureAt, failsForHours, failures = 0 } of this.endpoints) {
      await this.query(
        `INSERT INTO webhook_lane (endpoint_id, organization_id, last_success_at, last_failure_at, failing_since,
                                   consecutive_failures, next_due)
         VALUES ($1, $2, $3, $4, $5, $6, (SELECT min(due_at) FROM webhook_delivery WHERE endpoint_id = $1))
         ON CONFLICT (endpoint_id) DO UPDATE
            SET last_success_at = excluded.last_success_at, last_failure_at = excluded.last_failure_at,
                failing_since = excluded.failing_since, consecutive_failures = excluded.consecutive_failures,
                next_due = excluded.next_due`,
        [
          id,
          this.organization.id,
          lastSuccessAt,
          lastFailureAt,
          failsForHours ? new Date(this.now - failsForHours * HOUR) : null,
          failures,
        ],
      );
    }
    await this.query('ANALYZE');
  }

  async addAuditEntries() {
    const auditLog = this.app.get(AuditLog);
    const [main, , legacy] = this.endpoints;
    const active = this.users.filter(({ isActive }) => isActive);
    const admins = active.filter(({ role }) => role === 'owner' || role === 'admin');
    const others = [
      ['webhook.update', { name: legacy.url, environment: 'production' }],
      ['webhook.resend', { name: main.url, environment: 'production' }],
      ['secret.view', { name: 'production', environment: 'production' }],
      ['request_log.export', { environment: 'production' }],
      ['merchant.hide', { name: this.random.of(this.merchants).name, environment: 'production' }],
      ['user.add', { name: this.users.at(-1).email }],
      ['user.update', { name: this.users[4].email }],
      ['access_grant.create', { name: this.users[5].email }],
      ['domain.add', { name: DOMAIN }],
      ['agent.settings_update', { environment: 'production' }],
    ];
    for (const time of this.times(20)) {
      const isLogin = this.random.chance(0.7);
      const [action, target] = isLogin ? ['auth.login', undefined] : this.random.of(others);
      const user = this.random.of(isLogin ? active : admins);
      const outcome = isLogin && this.random.chance(0.06) ? 'failure' : 'success';
      const record = { action, actor: this.actor(user), target: target ?? { name: user.email }, outcome };
      await this.at(time, () => auditLog.record(record));
    }
  }
}

const EMPTY_ENTRY = {
  path: null,
  url: null,
  event: null,
  statusCode: 200,
  sessionId: null,
  taskId: null,
  externalUserId: null,
  tool: null,
  agent: null,
  errorCode: null,
  errorMessage: null,
  requestId: null,
};

/** Two programs send the requests: one with an API key, the other with the secret. */
function callerOf(path) {
  return path.startsWith('/detected')
    ? {
        apiKey: 'Account matching',
        ip: '198.51.100.61',
        userAgent: 'account-matching/2.3 python-httpx/0.28.1',
      }
    : { secretVersion: 1, ip: '203.0.113.18', userAgent: 'northwind-backend/5.1 node/24.11' };
}

function digest(random) {
  return createHash('sha256').update(random.hex(64)).digest();
}
