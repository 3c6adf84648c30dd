import {
  findAgesByWallClock,
  findForbiddenAddresses,
  findForbiddenClockAccess,
  findForbiddenConnections,
  findForbiddenDrivers,
  findForbiddenDynamicImports,
  findForbiddenEnvironmentAccess,
  findForbiddenHttpClients,
  findUnlistedSenders,
  findForbiddenHttpExceptions,
  findForbiddenRedisClients,
  findForbiddenSql,
  findForbiddenTypeOrm,
  findForbiddenUrlChecks,
  findUnboundedKeys,
  findUnorderedUpserts,
  findUnwatchedConnections,
} from './restricted-api-rules.js';
import {
  findBackReferences,
  findBypassedIndexes,
  findCycles,
  findForwardReferences,
  findForbiddenGuards,
  findUpwardImports,
  findForbiddenModuleImports,
} from './dependency-rules.js';
import {
  findDocumentedControllers,
  findHeavyHandlers,
  findIncompleteModules,
  findMisnamedPages,
  findMisplacedDeclarations,
  findUnnamedEntities,
  findVagueNames,
  findSchemaSynchronization,
  findUndocumentedExports,
} from './naming-and-structure-rules.js';
import { sourcesFrom, readSources, readTests, type Sources } from './source-tree.js';
import { findBlockingMigrations, findOutdatedExceptions } from './migration-rules.js';
import { findMisplacedTests, findStraySpecs } from './test-parts-rules.js';
import { findNamesOfModules, findOutdatedNames } from './capability-rules.js';
import { findForeignTables, findOutdatedCrossings } from './table-rules.js';

const sources = readSources();
const tests = readTests();

type Check = (sources: Sources) => string[];
/** Sources, and part of each expected message, in order. Without messages, the sources follow the rule. */
type Violation = [files: Record<string, string>, ...sentences: string[]];

/** Tests that the service follows the rule, and that the rule reports violations with a remedy. */
function rule(name: string, check: Check, ...violations: Violation[]): void {
  ruleFor(sources, name, check, ...violations);
}

function ruleFor(checked: Sources, name: string, check: Check, ...violations: Violation[]): void {
  describe(name, () => {
    it('is followed by the sources', () => expect(check(checked)).toEqual([]));

    it('reports violations with a remedy', () => {
      for (const [files, ...messages] of violations) {
        expect(check(sourcesFrom(files))).toEqual(
          messages.map((message) => expect.stringContaining(message)),
        );
      }
    });
  });
}

it('The rules check all sources', () => {
  expect(sources.size).toBeGreaterThan(100);
  expect([...sources.keys()]).toContain('src/main.ts');
});

describe('Dependencies', () => {
  rule(
    'Dependencies point downward: programs, application, app.module, modules, infrastructure',
    findUpwardImports,
    [
      {
        'src/infrastructure/auth/a.ts': `import { Client } from '../../modules/api-clients/index.js';`,
        'src/modules/api-clients/index.ts': 'export class Client {}',
      },
      'src/infrastructure/auth/a.ts imports src/modules/api-clients/index.ts, a higher layer: declare a port',
    ],
    [
      {
        'src/modules/careers/a.ts': `export type { AppOptions } from '../../app.module.js';`,
        'src/app.module.ts': `const application = await import('./application.js');`,
        'src/application.ts': `import './main.js';`,
        'src/main.ts': `import { programFor } from './cli/program.js';`,
        'src/cli/program.ts': `import './main.js';`,
        'src/cli/main.ts': '',
      },
      'src/modules/careers/a.ts imports src/app.module.ts, a higher layer: move the code that src/modules/careers/a.ts needs to a module or to infrastructure.',
      'src/app.module.ts imports src/application.ts',
      'src/application.ts imports src/main.ts',
      'src/main.ts imports src/cli/program.ts, another program: programs are entry points',
    ],
    [{ 'src/tools/date.ts': '' }, 'src/tools/date.ts belongs to no layer: move it to the module or'],
    [
      {
        'src/main.ts': `import { A } from './application.js';\nimport { B } from './modules/careers/index.js';`,
        'src/application.ts': `import { C } from './infrastructure/http/index.js';`,
        'src/modules/careers/index.ts': '',
        'src/infrastructure/http/index.ts': '',
      },
    ],
  );

  rule('No object assigns itself to another one', findBackReferences, [
    {
      'src/modules/careers/a.ts':
        'class A {\n  private own = this;\n  start() { this.queue.worker = this; }\n}',
      'src/modules/careers/b.ts': 'class B {\n  start() { this.queue.serve(this); this.queue = queue; }\n}',
    },
    'src/modules/careers/a.ts:3 assigns itself to this.queue.worker: pass it to a constructor or a method',
  ]);

  rule(
    'Folders are imported through their index.ts',
    findBypassedIndexes,
    [
      {
        'src/main.ts': `import { HttpConfiguration } from './infrastructure/http/http.configuration.js';`,
        'src/infrastructure/http/http.configuration.ts': '',
        'src/infrastructure/http/index.ts': `export * from './http.configuration.js';`,
      },
      'src/main.ts imports src/infrastructure/http/http.configuration.ts, bypassing index.ts: export what you need from src/infrastructure/http/index.ts.',
    ],
    [
      {
        'src/modules/careers/a.ts': `type Id = import('../merchants/deep/merchant.js').Id;`,
        'src/modules/merchants/deep/merchant.ts': '',
      },
      'export what you need from src/modules/merchants/index.ts, or move it to infrastructure.',
    ],
  );

  rule(
    'request-logs and audit-logs import no module, careers stands alone, and nobody imports sandbox',
    findForbiddenModuleImports,
    [
      {
        'src/modules/request-logs/a.ts': `import type { Client } from '../api-clients/index.js';`,
        'src/modules/audit-logs/a.ts': `export { Client } from '../api-clients/index.js';`,
        'src/modules/careers/a.ts': `import { matchKey } from '../merchants/index.js';`,
        'src/modules/merchants/index.ts': `import { Role } from '../careers/index.js';`,
        'src/modules/api-clients/index.ts': `const sandbox = await import('../sandbox/index.js');`,
        'src/modules/careers/index.ts': '',
        'src/modules/sandbox/index.ts': '',
      },
      'src/modules/request-logs/a.ts imports src/modules/api-clients/index.ts, but request-logs may import no other module: let the calling code pass',
      'src/modules/audit-logs/a.ts imports src/modules/api-clients/index.ts, but audit-logs may import no other module',
      'src/modules/careers/a.ts imports src/modules/merchants/index.ts, but careers may import no other module',
      'src/modules/merchants/index.ts imports src/modules/careers/index.ts, but no module may import careers: move what you need',
      'src/modules/api-clients/index.ts imports src/modules/sandbox/index.ts, but no module may import sandbox',
    ],
    [
      {
        'src/modules/organizations/a.ts': `import { ApiClientsService } from '../api-clients/index.js';`,
        'src/modules/api-clients/index.ts': '',
      },
    ],
  );

  rule(
    'There are no import cycles',
    findCycles,
    [
      {
        'src/modules/careers/a.ts': `import { b } from './b.js';`,
        'src/modules/careers/b.ts': `import type { C } from './c.js';`,
        'src/modules/careers/c.ts': `export * from './a.js';`,
      },
      'src/modules/careers/a.ts -> src/modules/careers/b.ts -> src/modules/careers/c.ts -> src/modules/careers/a.ts: these files import each other',
    ],
    [
      {
        'src/infrastructure/http/a.ts': `import '../auth/a.js';`,
        'src/infrastructure/auth/a.ts': '',
        'src/infrastructure/auth/b.ts': `import '../http/b.js';`,
        'src/infrastructure/http/b.ts': '',
      },
      'src/infrastructure/http -> src/infrastructure/auth -> src/infrastructure/http: these folders depend on each other',
    ],
    [
      {
        'src/modules/careers/a.ts': `import '../merchants/a.js';`,
        'src/modules/merchants/a.ts': '',
        'src/modules/merchants/b.ts': `import '../careers/b.js';`,
        'src/modules/careers/b.ts': '',
      },
      'src/modules/careers -> src/modules/merchants -> src/modules/careers: these modules depend on each other',
    ],
    [
      {
        'src/modules/careers/pages/a.ts': `import '../letter.js';`,
        'src/modules/careers/letter.ts': `import type { B } from './storage/b.js';`,
        'src/modules/careers/storage/b.ts': '',
        'src/modules/careers/storage/c.ts': `import '../pages/d.js';`,
        'src/modules/careers/pages/d.ts': '',
      },
      'src/modules/careers/pages -> src/modules/careers/letter.ts -> src/modules/careers/storage -> src/modules/careers/pages: these parts of a module depend on each other',
    ],
  );

  rule('forwardRef is not used', findForwardReferences, [
    { 'src/modules/careers/a.ts': `import { forwardRef as late } from '@nestjs/common';` },
    'src/modules/careers/a.ts uses forwardRef, which hides a cycle: invert one of the two dependencies',
  ]);

  rule(
    'Guards are declared in infrastructure',
    findForbiddenGuards,
    [
      {
        'src/modules/careers/a.ts': `
          import type { CanActivate } from '@nestjs/common';
          class Admission implements CanActivate {}`,
      },
      'src/modules/careers/a.ts:3 declares the guard Admission: move it to infrastructure/auth behind a port',
    ],
    [
      {
        'src/modules/careers/a.guard.ts': `
          import { AuthGuard } from '@nestjs/passport';
          export class CareersGuard extends AuthGuard('bearer') {}`,
      },
      'declares the guard CareersGuard',
    ],
    [
      {
        'src/modules/careers/a.guard.ts': `
          import { BasicAuthGuard } from '../../infrastructure/auth/index.js';
          export class CareersGuard extends BasicAuthGuard {}`,
        'src/infrastructure/auth/index.ts': '',
      },
      'declares the guard CareersGuard',
    ],
    [
      {
        'src/infrastructure/auth/a.ts': `import type { User } from '../../modules/sessions/index.js';`,
        'src/modules/sessions/index.ts': '',
      },
      'src/infrastructure/auth/a.ts imports src/modules/sessions/index.ts: guards may import ports only',
    ],
  );
});

describe('Capabilities', () => {
  rule('Infrastructure names no path, menu label, operation or table of a module', findNamesOfModules, [
    {
      'src/modules/careers/careers.controller.ts': "@Controller('careers-pages/roles')\nexport class A {}",
      'src/modules/careers/careers.capability.ts':
        "dashboardPermissions({ listRoles: {} });\nmenuEntries({ label: 'Open roles', path: 'roles' });",
      'src/modules/careers/role.entity.ts': "@Entity({ name: 'job_application' })\nclass Role {}",
      'src/infrastructure/http/a.ts': [
        "const OPEN = ['/careers-pages/roles', '/mcp/tokens/create?a=b'];",
        "const FIRST = ['listRoles', 'createMcpToken'];",
        'const query = `SELECT * FROM job_application WHERE id = ${id}`;',
        "const PRIVILEGES = { job_application: 'SELECT' };",
        "const OTHERS = ['roles', '/dashboard', 'application/json', 'Roles'];",
      ].join('\n'),
      'src/infrastructure/pages/a.tsx': 'const menu = <a href="careers-pages/roles/1">Open roles</a>;',
    },
    'src/infrastructure/http/a.ts:1 names /careers-pages/roles, which belongs to a module: let the module declare it',
    'src/infrastructure/http/a.ts:1 names /mcp/tokens/create?a=b',
    'src/infrastructure/http/a.ts:2 names listRoles',
    'src/infrastructure/http/a.ts:2 names createMcpToken',
    'src/infrastructure/http/a.ts:3 names job_application',
    'src/infrastructure/http/a.ts:4 names job_application',
    'src/infrastructure/pages/a.tsx:1 names careers-pages/roles/1',
    'src/infrastructure/pages/a.tsx:1 names Open roles',
  ]);

  it('The known names in infrastructure are still there', () =>
    expect(findOutdatedNames(sources)).toEqual([]));
});

describe('Restricted APIs', () => {
  rule('TypeORM is confined to repositories, batches and entities', findForbiddenTypeOrm, [
    {
      'src/modules/careers/careers.service.ts': `import { DataSource } from 'typeorm';`,
      'src/modules/careers/careers.module.ts': `import { InjectRepository } from '@nestjs/typeorm';`,
      'src/modules/careers/careers.controller.ts': `import { In } from 'typeorm';`,
      'src/modules/merchants/merchants.service.ts': `import { In } from 'typeorm';`,
      'src/modules/merchants/merchants.repository.ts': `import { DataSource } from 'typeorm';`,
      'src/infrastructure/time/a.ts': `import type { EntityManager } from 'typeorm';`,
    },
    'src/modules/careers/careers.service.ts imports typeorm: add a named method',
    'src/modules/careers/careers.module.ts imports @nestjs/typeorm',
    'src/modules/careers/careers.controller.ts imports typeorm',
    'src/infrastructure/time/a.ts imports typeorm',
  ]);

  rule('Repositories join the open transaction', findForbiddenConnections, [
    {
      'src/modules/careers/a.repository.ts': `import { DataSource, In } from 'typeorm';`,
      'src/modules/careers/b.repository.ts': 'await this.transaction.manager.connection.query(statement);',
      'src/modules/careers/c.repository.ts': `import { InjectRepository } from '@nestjs/typeorm';`,
      'src/modules/careers/d.repository.ts': `import { In } from 'typeorm';\nawait this.transaction.manager.query(sql);`,
      'src/modules/careers/careers.batch.ts': `import { DataSource } from 'typeorm';`,
      'src/infrastructure/database/a.ts': `import { DataSource } from 'typeorm';`,
    },
    'src/modules/careers/a.repository.ts imports DataSource, which bypasses the open transaction: inject Transaction',
    'src/modules/careers/c.repository.ts imports InjectRepository',
    'src/modules/careers/b.repository.ts:1 uses manager.connection',
  ]);

  rule('SQL is confined to repositories, batches and entities', findForbiddenSql, [
    {
      'src/modules/careers/a.ts': 'const rows = query(`\n  SELECT * FROM job_application WHERE id = ${id}`);',
      'src/cli/a.ts': `await query('INSERT INTO merchant VALUES (1)'); await query("DROP TABLE merchant");`,
      'src/modules/careers/b.ts': `const prose = 'Select a role'; const more = 'Update the dashboard';`,
      'src/modules/careers/a.repository.ts': `const sql = 'SELECT 1';`,
      'src/infrastructure/database/migrations/a.ts': `const sql = 'CREATE TABLE a ()';`,
    },
    "src/modules/careers/a.ts:1 contains SQL: move the statement to the module's *.repository.ts.",
    'src/cli/a.ts:1 contains SQL',
    'src/cli/a.ts:1 contains SQL',
  ]);

  rule('Rows that are inserted or updated together are locked in one order', findUnorderedUpserts, [
    {
      'src/modules/careers/a.repository.ts': [
        '`INSERT INTO a (b) SELECT b FROM unnest($1::text[]) ON CONFLICT (b) DO NOTHING`',
        '`INSERT INTO c (b) SELECT b, max(d) FROM e GROUP BY b ON CONFLICT (b) DO UPDATE SET d = excluded.d`',
        '`INSERT INTO f (b) SELECT b, array_agg(d ORDER BY d) FROM e GROUP BY b ON CONFLICT (b) DO NOTHING`',
        '`INSERT INTO a (b) SELECT b FROM unnest($1::text[]) ORDER BY b ON CONFLICT (b) DO NOTHING`',
        '`INSERT INTO a (b) VALUES ($1) ON CONFLICT (b) DO NOTHING`',
      ].join(';\n'),
    },
    'src/modules/careers/a.repository.ts:1 locks rows of a in no order: add ORDER BY with the key before ON CONFLICT',
    'src/modules/careers/a.repository.ts:2 locks rows of c in no order',
    'src/modules/careers/a.repository.ts:3 locks rows of f in no order',
  ]);

  rule('process.env is read only by infrastructure/config', findForbiddenEnvironmentAccess, [
    {
      'src/main.ts': `const port = process.env.PORT;\nconst { env } = process;`,
      'src/cli/a.ts': `import { env } from 'node:process';\nconst home = process['env'].HOME;`,
      'src/infrastructure/config/a.ts': 'const all = process.env;',
    },
    'src/cli/a.ts reads process.env: add a field to the configuration class of its concern',
    'src/main.ts:1 reads process.env',
    'src/main.ts:2 reads process.env',
    'src/cli/a.ts:2 reads process.env',
  ]);

  rule('The age of what a process remembers is not measured by the wall clock', findAgesByWallClock, [
    {
      'src/modules/careers/a.ts':
        'this.loadedAt = this.clock.milliseconds();\nthis.current = { key, fetchedAt: this.clock.now() };\nnextAt = clock.milliseconds() + MINUTE;\nconst now = this.clock.now();',
      'src/modules/careers/b.ts':
        'new LRUCache({ perf: { now: () => this.clock.milliseconds() } });\nthis.loadedAt = this.clock.monotonic();',
    },
    'src/modules/careers/a.ts:1 keeps a time of the wall clock in memory: use monotonic() of Clock',
    'src/modules/careers/a.ts:2 keeps a time of the wall clock in memory',
    'src/modules/careers/a.ts:3 keeps a time of the wall clock in memory',
    'src/modules/careers/b.ts:1 keeps a time of the wall clock in memory',
  ]);

  rule('The wall clock is read only by infrastructure/time', findForbiddenClockAccess, [
    {
      'src/modules/careers/a.ts':
        'const now = new Date();\nconst then = new Date(5);\nconst ms = Date.now();',
      'src/infrastructure/time/clock.ts': 'const now = new Date();',
      'src/infrastructure/http/a.ts': 'const text = Date();\nlist.map(Date.now);',
    },
    'src/modules/careers/a.ts:1 reads the wall clock: inject Clock of infrastructure/time',
    'src/modules/careers/a.ts:3 reads the wall clock',
    'src/infrastructure/http/a.ts:1 reads the wall clock',
    'src/infrastructure/http/a.ts:2 reads the wall clock',
  ]);

  rule('The addresses of clients are read only by infrastructure/http', findForbiddenAddresses, [
    {
      'src/modules/careers/a.ts': 'const key = request.ip;\nconst other = request.socket.remoteAddress;',
      'src/modules/careers/b.ts': 'const { ip } = requestOrigin(request);\nconst shown = device.ip;',
      'src/infrastructure/http/request-origin.ts': 'const entry = request.ip;',
    },
    'src/modules/careers/a.ts:1 reads the address of a client as a proxy wrote it: use clientAddress()',
    'src/modules/careers/a.ts:2 reads the address of a client',
  ]);

  rule('URL.canParse is not used', findForbiddenUrlChecks, [
    { 'src/modules/careers/a.ts': 'const good = URL.canParse(text) && new URL(text);' },
    'src/modules/careers/a.ts:1 calls URL.canParse, whose result is wrong in Node.js 20',
  ]);

  rule('Modules can load libraries again after a failure', findForbiddenDynamicImports, [
    {
      'src/modules/careers/a.ts': "type Loaded = typeof import('yaml');\nconst load = () => import('yaml');",
      'src/cli/program.ts': "const load = () => import('./commands/a.command.js');",
    },
    'src/modules/careers/a.ts:2 calls import(), whose failures Node.js keeps until the process ends',
  ]);

  rule('HTTP requests are sent only by infrastructure/http-client', findForbiddenHttpClients, [
    {
      'src/modules/careers/a.ts': `import { Agent } from 'undici';\nimport axios from 'axios';\nawait fetch(url);`,
      'src/modules/careers/b.ts': `import { request } from 'node:http';\nimport https from 'https';`,
      'src/modules/careers/c.ts': `import type { Server } from 'node:http';\nthis.repository.fetch(id);`,
      'src/infrastructure/http/d.ts': `import { Agent } from 'node:http';`,
      'src/infrastructure/http-client/outgoing.ts': `import { Agent } from 'undici';`,
    },
    'src/modules/careers/a.ts imports undici and sends HTTP requests: use infrastructure/http-client',
    'src/modules/careers/a.ts imports axios',
    'src/modules/careers/b.ts imports node:http',
    'src/modules/careers/b.ts imports https',
    'src/infrastructure/http/d.ts imports node:http',
    'src/modules/careers/a.ts:3 sends HTTP requests',
  ]);

  rule('the list of places that send HTTP requests is complete', findUnlistedSenders, [
    {
      'src/modules/careers/a.ts': `import { HttpClient } from '../../infrastructure/http-client/index.js';`,
      'src/modules/careers/b.ts': `import type { HttpClient } from '../../infrastructure/http-client/index.js';`,
      'src/modules/careers/c.ts': `const client = await import('openid-client');`,
      'src/modules/webhooks/sender/delivery-sender.ts': `import { HttpClient } from '../../../infrastructure/http-client/index.js';`,
    },
    'src/modules/careers/a.ts imports ../../infrastructure/http-client/index.js and may send requests',
    'src/modules/careers/c.ts imports openid-client',
  ]);

  rule("Nest's exceptions are not thrown by modules", findForbiddenHttpExceptions, [
    {
      'src/modules/careers/a.ts': `import { Injectable, NotFoundException } from '@nestjs/common';`,
      'src/infrastructure/http/a.ts': `import { HttpException } from '@nestjs/common';`,
    },
    "src/modules/careers/a.ts uses NotFoundException: throw an ErrorKind of the module's catalog",
  ]);

  rule('pg is imported only by infrastructure', findForbiddenDrivers, [
    {
      'src/modules/careers/a.repository.ts': `import pg from 'pg';`,
      'src/infrastructure/embedded-postgres/a.ts': `import pg from 'pg';`,
      'src/modules/careers/b.ts': `import { page } from 'pages';`,
    },
    'src/modules/careers/a.repository.ts imports pg: use the Transaction',
  ]);

  rule('Connections to PostgreSQL are watched for silence', findUnwatchedConnections, [
    {
      'src/infrastructure/database/a.ts': `const pool = new pg.Pool({ ...address, Client, max: 1 });`,
      'src/infrastructure/database/b.ts': `const pool = new pg.Pool({ ...address, max: 1 });`,
      'src/infrastructure/embedded-postgres/c.ts': `const client = new pg.Client(address);`,
    },
    'src/infrastructure/database/b.ts:1 opens pg.Pool: use Client of infrastructure/database',
    'src/infrastructure/embedded-postgres/c.ts:1 opens pg.Client: use Client of infrastructure/database',
  ]);

  rule('Keys of caches and limits have a limited length', findUnboundedKeys, [
    {
      'src/infrastructure/caching/a.ts': 'const cache = new LRUCache<string, number>({ max: 10 });',
      'src/infrastructure/rate-limiting/a.ts': `import { RateLimiterMemory } from 'rate-limiter-flexible';`,
      'src/modules/careers/a.ts': 'const cache = new LRUCache<number, string>({ max: 10 });',
      'src/modules/careers/b.ts': 'const cache = new LRUCache<string, number>({ max: 10 });',
      'src/modules/careers/c.ts': `import { RateLimiterMemory } from 'rate-limiter-flexible';`,
    },
    'src/modules/careers/b.ts:1 caches values under texts of any length: use BoundedCache',
    'src/modules/careers/c.ts imports rate-limiter-flexible: use RateLimiters',
  ]);

  rule('ioredis is imported only by infrastructure/redis', findForbiddenRedisClients, [
    {
      'src/infrastructure/rate-limiting/a.ts': `import { Cluster } from 'ioredis';`,
      'src/infrastructure/redis/a.ts': `import { Cluster } from 'ioredis';`,
      'src/modules/careers/b.ts': `import { Redis } from '../../infrastructure/redis/index.js';`,
      'src/infrastructure/redis/index.ts': '',
    },
    'src/infrastructure/rate-limiting/a.ts imports ioredis: use Redis of infrastructure/redis',
  ]);
});

describe('Tables', () => {
  it('KNOWN_CROSSINGS lists only statements that exist', () => {
    expect(findOutdatedCrossings(sources)).toEqual([]);
  });

  rule('One module writes a table, and only modules that depend on it read it', findForeignTables, [
    {
      'src/modules/sessions/sessions.repository.ts': `
        query('INSERT INTO session (id) VALUES ($1)');
        query(\`SELECT id FROM session JOIN api_client ON true\`);
        query('SELECT id FROM merchant');
        import '../api-clients/index.js';`,
      'src/modules/careers/a.repository.ts': "query('UPDATE session SET id = $1 WHERE id = $2');",
      'src/modules/api-clients/a.entity.ts': "@Entity({ name: 'api_client' }) class ApiClient {}",
      'src/modules/merchants/a.entity.ts': "@Entity({ name: 'merchant' }) class Merchant {}",
      'src/modules/oauth/a.repository.ts':
        "query('WITH merchant AS (SELECT 1) SELECT FROM merchant FOR UPDATE'); query('SELECT FROM api_client'); import type { A } from '../api-clients/index.js';",
    },
    'src/modules/sessions/sessions.repository.ts:2 writes session, and so do src/modules/careers: let one module',
    'src/modules/sessions/sessions.repository.ts:4 reads merchant, which src/modules/merchants owns: call a method of merchants',
    'src/modules/careers/a.repository.ts:1 writes session, and so do src/modules/sessions',
  ]);
});

describe('Names and structure', () => {
  rule('Files and folders have specific names', findVagueNames, [
    {
      'src/common/a.ts': '',
      'src/modules/careers/helpers/b.ts': '',
      'src/modules/careers/date-utils.ts': '',
      'src/infrastructure/time/constants.ts': '',
      'src/modules/careers/careers.types.ts': '',
    },
    'src/common has a vague name: move each file next to the code that uses it',
    'src/modules/careers/helpers has a vague name',
    'src/modules/careers/date-utils.ts has a vague name: name it after its content',
    'src/infrastructure/time/constants.ts has a vague name',
  ]);

  rule('Each kind of declaration has one home', findMisplacedDeclarations, [
    {
      'src/modules/careers/careers.configuration.ts': "@Configuration('Careers')\nexport class A {}",
      'src/modules/careers/careers.service.ts': "@Configuration('Careers')\nexport class A {}",
      'src/infrastructure/crypto/crypto.module.ts': '@Global()\n@Module({})\nexport class A {}',
      'src/infrastructure/crypto/sealer.ts': '@Global()\n@Module({})\nexport class A {}',
      'src/modules/careers/careers.repository.ts': "@Entity({ name: 'a' })\nclass A {}",
      'src/modules/careers/careers.dto.ts': "const A = new ErrorKind(404, 'B', 'C', {});",
      'src/modules/careers/careers.job.ts': 'class A {\n  @Cron(DAILY)\n  run() {}\n}',
      'src/modules/careers/careers.import.ts': 'class A {\n  @Interval(SECOND)\n  run() {}\n}',
    },
    'src/modules/careers/careers.service.ts:1 declares a configuration: move it to a file whose name ends with .configuration.ts',
    'src/infrastructure/crypto/sealer.ts:1 declares a Nest module',
    'src/modules/careers/careers.repository.ts:1 declares an entity',
    'src/modules/careers/careers.dto.ts:1 declares an error kind: move it to a file whose name ends with -errors.ts',
    'src/modules/careers/careers.import.ts:2 declares scheduled work: move it to a file whose name ends with .job.ts',
  ]);

  rule('Pages are called so', findMisnamedPages, [
    {
      'src/modules/careers/careers.pages.tsx':
        'class JobsPage extends ListPage(A) {}\nclass JobPages { @Get() @PageRoute({}) show() {} }',
      'src/modules/careers/careers.controller.ts':
        'class CareersController { @Get() list() {} }\nclass JobPage extends FormPage(A) {}',
    },
    'src/modules/careers/careers.pages.tsx:2 (JobPages) is a page: call it XPage',
    'src/modules/careers/careers.controller.ts:2 (JobPage) is a page: call it XPage, in a file whose name ends with .pages.tsx',
  ]);

  rule('Only migrations change the schema', findSchemaSynchronization, [
    { 'src/infrastructure/database/a.ts': 'const options = {\n  synchronize: isTest,\n};' },
    'src/infrastructure/database/a.ts:2 sets synchronize: write a migration',
  ]);

  const migrationOf = (...statements: string[]) => ({
    'src/infrastructure/database/migrations/1-a.ts': ['transaction = false', ...statements].join(';\n'),
  });
  rule(
    'Nobody waits for a migration, and each can be repeated',
    findBlockingMigrations,
    [
      { 'src/infrastructure/database/migrations/1-a.ts': 'connection.query(`SELECT 1`)' },
      'src/infrastructure/database/migrations/1-a.ts: set transaction = false',
    ],
    [
      migrationOf("connection.query('ALTER TABLE a ADD COLUMN IF NOT EXISTS b text')", 'connection.query(b)'),
      ':2 runs a statement itself: use changeSchema',
      ':3 runs a statement itself: use changeSchema',
    ],
    [
      migrationOf(
        "['ALTER TABLE a ADD COLUMN IF NOT EXISTS b text; ALTER TABLE c ADD COLUMN IF NOT EXISTS d text']",
      ),
      ':2 contains several statements',
    ],
    [
      migrationOf(
        "['CREATE INDEX IF NOT EXISTS b ON a (c)']",
        "['CREATE UNIQUE INDEX IF NOT EXISTS b ON ONLY a (c)']",
        "runBesideOthers(connection, 'ALTER TABLE a ADD COLUMN IF NOT EXISTS b text')",
        'runBesideOthers(connection, b)',
      ),
      ':2 builds an index under a lock: use createIndexConcurrently',
      ':3 builds an index under a lock',
      ':4 does not say what runs beside others',
      ':5 does not say what runs beside others',
    ],
    [
      migrationOf(
        ...[
          'CREATE TABLE a (b text)',
          'CREATE FUNCTION a() RETURNS void',
          'ALTER TABLE a ADD COLUMN b text',
          'ALTER TABLE a ADD b text',
          "ALTER TABLE a ADD COLUMN IF NOT EXISTS b text, ADD COLUMN IF NOT EXISTS c text NOT NULL DEFAULT \\'d\\' CHECK (c > b)",
          'ALTER TABLE a ADD COLUMN IF NOT EXISTS b uuid REFERENCES c (d)',
          'ALTER TABLE a ADD COLUMN IF NOT EXISTS b text NOT NULL, ADD COLUMN IF NOT EXISTS c text DEFAULT 1',
          'ALTER TABLE a ADD COLUMN IF NOT EXISTS b uuid DEFAULT gen_random_uuid()',
          'ALTER TABLE a DROP CONSTRAINT IF EXISTS b, ADD CONSTRAINT b CHECK (c > 1)',
          'ALTER TABLE a ALTER COLUMN b SET NOT NULL',
          'ALTER TABLE a ALTER COLUMN b TYPE bigint',
          'ALTER TABLE a RENAME TO b',
          'ALTER TABLE a DROP COLUMN IF EXISTS b',
          'DROP FUNCTION IF EXISTS a',
          'ALTER TABLE a VALIDATE CONSTRAINT b',
          'UPDATE a SET b = 1',
          'DO $$ BEGIN LOCK TABLE a; END $$',
        ].map((statement) => `['${statement}']`),
      ),
      'add IF NOT EXISTS',
      'write CREATE OR REPLACE',
      'add IF NOT EXISTS',
      'write ADD COLUMN or ADD CONSTRAINT',
      'contains ADD COLUMN IF NOT EXISTS c text NOT NULL',
      ':7 contains ADD COLUMN IF NOT EXISTS b uuid REFERENCES c (d): the table would be read under a lock',
      'contains ADD COLUMN IF NOT EXISTS b text NOT NULL: the last release inserts rows without the column',
      'PostgreSQL may write all rows again',
      'add NOT VALID, then let runBesideOthers validate it',
      'contains ALTER COLUMN b SET NOT NULL: the table would be read or written under a lock',
      'contains ALTER COLUMN b TYPE bigint: the table would be read or written under a lock',
      'contains RENAME TO b: the last release uses the name',
      'contains DROP COLUMN IF EXISTS b: the last release uses it',
      'contains DROP FUNCTION IF EXISTS a: the last release uses it',
      ':16 contains VALIDATE CONSTRAINT b',
      ':17 contains UPDATE a SET b = 1: rows would be locked',
      ':18 contains DO',
    ],
    [
      migrationOf("['ALTER TABLE a ADD CONSTRAINT b CHECK (c > 1) NOT VALID']"),
      ':2 cannot be repeated: write DROP CONSTRAINT IF EXISTS',
    ],
    [
      migrationOf(
        "['CREATE TABLE IF NOT EXISTS a (b uuid CONSTRAINT c REFERENCES d (e))', 'CREATE INDEX IF NOT EXISTS f ON a (b)']",
        "['CREATE OR REPLACE FUNCTION a() AS $$ BEGIN LOCK TABLE b; DROP TABLE b; END $$']",
        "runBesideOthers(connection, 'ALTER TABLE a VALIDATE CONSTRAINT b')",
        "connection.query('SELECT 1')",
      ),
    ],
  );

  it('Nobody waits for the known exceptions of migrations', () => {
    expect(findOutdatedExceptions(sources)).toEqual([]);
  });

  rule('Controllers contain no documentation', findDocumentedControllers, [
    {
      'src/modules/careers/careers.controller.ts': `@Get()\n@Operation({ summary: 'Apply', limit: 5 })\nlist() {}`,
      'src/modules/careers/careers.pages.tsx': `form({ description: 'Apply' })`,
      'src/modules/careers/careers.dto.ts': `export const APPLY = { summary: 'Apply' };`,
    },
    'src/modules/careers/careers.controller.ts:2 documents an operation: move summary to the .dto.ts file',
  ]);

  rule('Handlers of an API only call a service', findHeavyHandlers, [
    {
      'src/modules/careers/a.controller.ts': `
        class A {
          @Post('a') @One() @Two()
          light() { return this.service.light(); }
          @Get('b') @One() @Two() @Three()
          heavy() { const value = 1; return value; }
          help() { const value = 1; return value; }
          @Get('c') @DashboardPage('listThings')
          page() { const value = 1; return value; }
          @Get('d') @DashboardPage('listThings') @One() @Two()
          decorated() {}
        }`,
      'src/modules/careers/a.pages.ts': `
        class B { @Get('c') page() { const value = 1; return value; } }`,
    },
    "src/modules/careers/a.controller.ts:5 (heavy) has more than one statement: move the work to the module's service.",
    'src/modules/careers/a.controller.ts:5 (heavy) has 4 decorators (Get, One, Two, Three): combine them',
    'src/modules/careers/a.controller.ts:10 (decorated) has 4 decorators (Get, DashboardPage, One, Two)',
  ]);

  rule('Modules have an index.ts and a Nest module', findIncompleteModules, [
    { 'src/modules/careers/careers.ts': '' },
    'src/modules/careers/index.ts is missing: add the public interface',
    'src/modules/careers/careers.module.ts is missing: add the Nest module',
  ]);

  rule('Entities name their table', findUnnamedEntities, [
    {
      'src/modules/careers/a.entity.ts': `
        @Entity()
        class A {}
        @Entity('b')
        class B {}`,
    },
    'src/modules/careers/a.entity.ts:2 (A) does not name its table: @Entity',
  ]);

  rule('Exports of an index.ts have doc comments', findUndocumentedExports, [
    {
      'src/modules/careers/index.ts': `
        export { CareersModule } from './careers.module.js';
        export { silent as quiet, spoken, type Shape } from './careers.js';
        export * from './more.js';`,
      'src/modules/careers/careers.module.ts': '@Module({}) export class CareersModule {}',
      'src/modules/careers/careers.ts': `
        export function silent() {}
        /** Does something. */
        export function spoken() {}
        export interface Shape {}`,
      'src/modules/careers/more.ts': `
        // Not a doc comment.
        export class Mute {}
        export function act() {}
        export const NUMBER = 5;`,
    },
    'src/modules/careers/careers.ts:2 (silent), which src/modules/careers/index.ts exports, has no doc comment: describe',
    'src/modules/careers/more.ts:3 (Mute)',
    'src/modules/careers/more.ts:4 (act)',
  ]);
});

ruleFor(
  tests,
  'Tests that start programs or a browser are in folders of their own',
  findMisplacedTests,
  [
    {
      'test/e2e/a.spec.ts': `import { logIn } from '../support/a.js';`,
      'test/programs/a.spec.ts': `import { logIn } from '../support/a.js';`,
      'test/browser/a.spec.ts': `import { logIn } from '../support/a.js';`,
      'test/support/a.ts': `export * from './b.js';`,
      'test/support/b.ts': `import { chromium } from 'playwright-core';`,
    },
    'test/e2e/a.spec.ts starts a browser: move those tests to test/browser.',
    'test/programs/a.spec.ts starts a browser',
  ],
  [
    {
      'src/modules/careers/a.spec.ts': `import { spawn } from 'node:child_process';`,
      'test/e2e/a.spec.ts': `import { run } from '../support/a.mjs';`,
      'test/e2e/b.spec.ts': `import { startEmbeddedPostgres } from '../../src/infrastructure/embedded-postgres/index.js';`,
      'test/e2e/c.spec.ts': `import type { ChildProcess } from 'node:child_process';`,
      'test/programs/a.spec.ts': `import { run } from '../support/a.mjs';`,
      'test/support/a.mjs': `const { spawn } = await import('node:child_process');`,
    },
    'src/modules/careers/a.spec.ts starts a program: move those tests to test/programs.',
    'test/e2e/a.spec.ts starts a program',
    'test/e2e/b.spec.ts starts a program',
  ],
  [
    { 'test/programs/a.spec.ts': '', 'test/browser/a.spec.ts': `import { it } from '../support/a.js';` },
    'test/programs/a.spec.ts starts no program and no browser: move it to test/e2e',
    'test/browser/a.spec.ts starts no program and no browser',
  ],
);

ruleFor(
  new Map([...sources, ...tests]),
  'Unit specs are beside the files that they are named after',
  findStraySpecs,
  [
    {
      'src/modules/careers/a.ts': '',
      'src/modules/careers/a.spec.ts': '',
      'src/modules/careers/b.pages.tsx': '',
      'src/modules/careers/b.pages.spec.ts': '',
      'src/modules/careers/c.spec.ts': '',
      'src/modules/careers/parts/a.spec.ts': '',
      'test/e2e/careers/d.spec.ts': '',
    },
    'src/modules/careers/c.spec.ts is named after no file beside it: move it beside the file that it tests',
    'src/modules/careers/parts/a.spec.ts is named after no file beside it',
  ],
);
