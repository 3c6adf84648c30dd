import {
  strayClock,
  strayConnections,
  strayDrivers,
  strayEnvironment,
  strayHttpClients,
  strayHttpExceptions,
  strayRedisClients,
  straySql,
  strayTypeOrm,
  strayUrlChecks,
} from './confinement-rules.js';
import {
  bypassedDoors,
  circles,
  forwardReferences,
  MODULE_ARROWS,
  strayGuards,
  turnedArrows,
  unknownModuleArrows,
} from './dependency-rules.js';
import {
  documentedControllers,
  heavyHandlers,
  incompleteModules,
  namelessEntities,
  namelessPlaces,
  synchronizedSchemas,
  undocumentedExports,
} from './shape-rules.js';
import { planted, readSources, type Sources } from './source-tree.js';

const sources = readSources();

type Check = (sources: Sources) => string[];
/** Sources that break a rule, and the beginning of each sentence about it, in order; none where nothing is wrong. */
type Trial = [files: Record<string, string>, ...sentences: string[]];

/** The rule holds for the service, finds what was planted, and says what to do about it. */
function rule(name: string, check: Check, ...trials: Trial[]): void {
  describe(name, () => {
    it('holds', () => expect(check(sources)).toEqual([]));

    it.each(trials)('is noticed when broken (%#)', (files, ...sentences) => {
      expect(check(planted(files))).toEqual(sentences.map((sentence) => expect.stringContaining(sentence)));
    });
  });
}

it('has sources to judge', () => {
  expect(sources.size).toBeGreaterThan(100);
  expect([...sources.keys()]).toContain('src/main.ts');
});

describe('Dependencies', () => {
  rule(
    'programs -> application -> app.module -> modules -> infrastructure',
    turnedArrows,
    [
      {
        'src/infrastructure/auth/a.ts': `import { Client } from '../../modules/api-clients/index.js';`,
        'src/modules/api-clients/index.ts': 'export class Client {}',
      },
      'src/infrastructure/auth/a.ts imports src/modules/api-clients/index.ts, against the arrows: declare a port',
    ],
    [
      {
        'src/modules/careers/a.ts': `export type { AppOptions } from '../../app.module.js';`,
        'src/app.module.ts': `const application = await import('./application.js');`,
        'src/application.ts': `import './main.js';`,
        'src/main.ts': `import { CliModule } from './cli/cli.module.js';`,
        'src/cli/cli.module.ts': `import './main.js';`,
        'src/cli/main.ts': '',
      },
      'src/modules/careers/a.ts imports src/app.module.ts, against the arrows: move what is needed there',
      'src/app.module.ts imports src/application.ts',
      'src/application.ts imports src/main.ts',
      'src/main.ts imports src/cli/cli.module.ts, against the arrows: programs are entry points',
    ],
    [{ 'src/tools/date.ts': '' }, 'src/tools/date.ts belongs to no layer: put it into the module or'],
    [
      {
        'src/main.ts': `import { A } from './application.js';\nimport { B } from './modules/careers/index.js';`,
        'src/application.ts': `import { C } from './infrastructure/http/index.js';`,
        'src/modules/careers/index.ts': '',
        'src/infrastructure/http/index.ts': '',
      },
    ],
  );

  rule(
    'a folder is entered through its index.ts',
    bypassedDoors,
    [
      {
        'src/main.ts': `import { HttpConfiguration } from './infrastructure/http/http.configuration.js';`,
        'src/infrastructure/http/http.configuration.ts': '',
        'src/infrastructure/http/index.ts': `export * from './http.configuration.js';`,
      },
      'src/main.ts imports src/infrastructure/http/http.configuration.ts, past the door: export what you need from src/infrastructure/http/index.ts.',
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
    'modules use the modules of the table',
    unknownModuleArrows,
    [
      {
        'src/modules/careers/a.ts': `import { matchKey } from '../merchants/index.js';`,
        'src/modules/merchants/index.ts': '',
      },
      'careers -> merchants is not in MODULE_ARROWS: let the caller pass what is needed',
    ],
    [{ 'src/modules/novelty/index.ts': '' }, 'The module novelty is not in MODULE_ARROWS: add it there'],
    [
      {
        'src/modules/organizations/a.ts': `import { ApiClientsService } from '../api-clients/index.js';`,
        'src/modules/api-clients/index.ts': '',
      },
    ],
  );

  it('lets nobody use the sandbox, whatever the table says', () => {
    const files = planted({
      'src/modules/careers/a.ts': `import { Sandbox } from '../sandbox/index.js';`,
      'src/modules/sandbox/index.ts': '',
    });
    expect(unknownModuleArrows(files, { careers: ['sandbox'], sandbox: [] })).toEqual([
      expect.stringContaining('nobody uses sandbox'),
    ]);
    expect(Object.values(MODULE_ARROWS).flat()).not.toContain('sandbox');
  });

  rule(
    'no circles',
    circles,
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
      'src/infrastructure/http -> src/infrastructure/auth -> src/infrastructure/http: these folders stand on each other',
    ],
    [
      {
        'src/modules/careers/a.ts': `import '../merchants/a.js';`,
        'src/modules/merchants/a.ts': '',
        'src/modules/merchants/b.ts': `import '../careers/b.js';`,
        'src/modules/careers/b.ts': '',
      },
      'src/modules/careers -> src/modules/merchants -> src/modules/careers: these modules use each other',
    ],
  );

  rule('no forwardRef', forwardReferences, [
    { 'src/modules/careers/a.ts': `import { forwardRef as late } from '@nestjs/common';` },
    'src/modules/careers/a.ts uses forwardRef, which hides a circle: turn one of the two arrows around',
  ]);

  rule(
    'guards live in infrastructure',
    strayGuards,
    [
      {
        'src/modules/careers/a.ts': `
          import type { CanActivate } from '@nestjs/common';
          class Doorman implements CanActivate {}`,
      },
      'src/modules/careers/a.ts:3 declares the guard Doorman: put it into infrastructure/auth behind a port',
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
      'src/infrastructure/auth/a.ts imports src/modules/sessions/index.ts: guards know ports only',
    ],
  );
});

describe('Confinement', () => {
  rule('TypeORM', strayTypeOrm, [
    {
      'src/modules/careers/careers.service.ts': `import { DataSource } from 'typeorm';`,
      'src/modules/careers/careers.module.ts': `import { InjectRepository } from '@nestjs/typeorm';`,
      'src/modules/merchants/merchants.module.ts': `import { TypeOrmModule } from '@nestjs/typeorm';`,
      'src/modules/merchants/merchants.repository.ts': `import { DataSource } from 'typeorm';`,
      'src/infrastructure/time/a.ts': `import type { EntityManager } from 'typeorm';`,
    },
    'src/modules/careers/careers.service.ts imports typeorm: add a named method',
    'src/modules/careers/careers.module.ts imports @nestjs/typeorm',
    'src/infrastructure/time/a.ts imports typeorm',
  ]);

  rule('connections outside the open transaction', strayConnections, [
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

  rule('SQL', straySql, [
    {
      'src/modules/careers/a.ts': 'const rows = query(`\n  SELECT * FROM job_application WHERE id = ${id}`);',
      'src/cli/a.ts': `await query('INSERT INTO merchant VALUES (1)'); await query("DROP TABLE merchant");`,
      'src/modules/careers/b.ts': `const prose = 'Select a role'; const more = 'Update the dashboard';`,
      'src/modules/careers/a.repository.ts': `const sql = 'SELECT 1';`,
      'src/infrastructure/database/migrations/a.ts': `const sql = 'CREATE TABLE a ()';`,
    },
    "src/modules/careers/a.ts:1 holds SQL: move the statement into the module's *.repository.ts.",
    'src/cli/a.ts:1 holds SQL',
    'src/cli/a.ts:1 holds SQL',
  ]);

  rule('process.env', strayEnvironment, [
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

  rule('the wall clock', strayClock, [
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

  rule('URL.canParse', strayUrlChecks, [
    { 'src/modules/careers/a.ts': 'const good = URL.canParse(text) && new URL(text);' },
    'src/modules/careers/a.ts:1 calls URL.canParse, whose result is wrong in Node.js 20',
  ]);

  rule('outgoing HTTP', strayHttpClients, [
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

  rule("Nest's exceptions", strayHttpExceptions, [
    {
      'src/modules/careers/a.ts': `import { Injectable, NotFoundException } from '@nestjs/common';`,
      'src/infrastructure/http/a.ts': `import { HttpException } from '@nestjs/common';`,
    },
    "src/modules/careers/a.ts uses NotFoundException: throw an ErrorKind of the module's catalogue",
  ]);

  rule('pg', strayDrivers, [
    {
      'src/modules/careers/a.repository.ts': `import pg from 'pg';`,
      'src/infrastructure/embedded-postgres/a.ts': `import pg from 'pg';`,
      'src/modules/careers/b.ts': `import { page } from 'pages';`,
    },
    'src/modules/careers/a.repository.ts imports pg: use the Transaction',
  ]);

  rule('ioredis', strayRedisClients, [
    {
      'src/infrastructure/rate-limiting/a.ts': `import { Cluster } from 'ioredis';`,
      'src/infrastructure/redis/a.ts': `import { Cluster } from 'ioredis';`,
      'src/modules/careers/b.ts': `import { Redis } from '../../infrastructure/redis/index.js';`,
      'src/infrastructure/redis/index.ts': '',
    },
    'src/infrastructure/rate-limiting/a.ts imports ioredis: use Redis of infrastructure/redis',
  ]);
});

describe('Shape', () => {
  rule('names say what a thing is', namelessPlaces, [
    {
      'src/common/a.ts': '',
      'src/modules/careers/helpers/b.ts': '',
      'src/modules/careers/date-utils.ts': '',
      'src/infrastructure/time/constants.ts': '',
      'src/modules/careers/careers.types.ts': '',
    },
    'src/common has a name without meaning: put each thing next to its only user',
    'src/modules/careers/helpers has a name without meaning',
    'src/modules/careers/date-utils.ts has a name without meaning: name it after its content',
    'src/infrastructure/time/constants.ts has a name',
  ]);

  rule('the schema changes through migrations alone', synchronizedSchemas, [
    { 'src/infrastructure/database/a.ts': 'const options = {\n  synchronize: isTest,\n};' },
    'src/infrastructure/database/a.ts:2 sets synchronize: write a migration',
  ]);

  rule('controllers contain no documentation', documentedControllers, [
    {
      'src/modules/careers/careers.controller.ts': `@Get()\n@Operation({ summary: 'Apply', limit: 5 })\nlist() {}`,
      'src/modules/careers/careers.docs.ts': `export const APPLY = { summary: 'Apply' };`,
    },
    'src/modules/careers/careers.controller.ts:2 documents an operation: move summary to the .docs.ts file',
  ]);

  rule('handlers hand over', heavyHandlers, [
    {
      'src/modules/careers/a.controller.ts': `
        class A {
          @Post('a') @One() @Two()
          light() { return this.service.light(); }
          @Get('b') @One() @Two() @Three()
          heavy() { const value = 1; return value; }
          help() { const value = 1; return value; }
        }`,
    },
    "src/modules/careers/a.controller.ts:5 (heavy) is more than one statement: move the work into the module's service.",
    'src/modules/careers/a.controller.ts:5 (heavy) has 4 decorators (Get, One, Two, Three): join them',
  ]);

  rule('modules have a door and their wiring', incompleteModules, [
    { 'src/modules/careers/careers.ts': '' },
    'src/modules/careers/index.ts is missing: add it: the only public door',
    'src/modules/careers/careers.module.ts is missing: add it: the wiring',
  ]);

  rule('entities name their table and primary key', namelessEntities, [
    {
      'src/modules/careers/a.entity.ts': `
        @Entity()
        class A { @PrimaryColumn({ type: 'uuid' }) id; }
        @Entity('b')
        class B { @PrimaryColumn({ primaryKeyConstraintName: 'b_pkey' }) id; @Column() name; }`,
    },
    'src/modules/careers/a.entity.ts:2 (A) does not name its table: @Entity',
    'src/modules/careers/a.entity.ts:3 (A.id) does not name its primary key: primaryKeyConstraintName',
  ]);

  rule('what a door hands out is explained', undocumentedExports, [
    {
      'src/modules/careers/index.ts': `
        export { CareersModule } from './careers.module.js';
        export { silent as quiet, spoken, type Shape } from './careers.js';
        export * from './more.js';`,
      'src/modules/careers/careers.module.ts': '@Module({}) export class CareersModule {}',
      'src/modules/careers/careers.ts': `
        export function silent() {}
        /** Says something. */
        export function spoken() {}
        export interface Shape {}`,
      'src/modules/careers/more.ts': `
        // Not for readers of the door.
        export class Mute {}
        export function act() {}
        export const NUMBER = 5;`,
    },
    'src/modules/careers/careers.ts:2 (silent), which src/modules/careers/index.ts exports, has no doc comment: say',
    'src/modules/careers/more.ts:3 (Mute)',
    'src/modules/careers/more.ts:4 (act)',
  ]);
});
