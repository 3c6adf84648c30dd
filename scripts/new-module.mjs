#!/usr/bin/env node
/*
 * `npm run new:module gift-cards` creates a small module with one operation of the platform API, its migration and its
 * test. The module passes all checks. docs/extending.md describes how to continue.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import pluralize from 'pluralize';

const [, , names = ''] = process.argv;
if (!existsSync('src/app.module.ts')) fail('Run this command in the root folder of the project.');
if (!/^[a-z]+(?:-[a-z]+)*$/.test(names)) fail('Usage: npm run new:module <plural name>, such as gift-cards');
if (!pluralize.isPlural(names)) fail(`${names} is not a plural. Did you mean ${pluralize.plural(names)}?`);
if (existsSync(`src/modules/${names}`)) fail(`The module ${names} already exists.`);

const name = pluralize.singular(names);
const words = name.replaceAll('-', ' ');
const pluralWords = names.replaceAll('-', ' ');
const classOf = (text) => text.replaceAll(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
const [One, Many] = [classOf(name), classOf(names)];
const [one, many] = [One, Many].map((text) => text[0].toLowerCase() + text.slice(1));
const article = /^[aeiou]/.test(name) ? 'an' : 'a';
const articleTitle = article === 'an' ? 'An' : 'A';
const title = pluralWords[0].toUpperCase() + pluralWords.slice(1);
const table = name.replaceAll('-', '_');
const constant = table.toUpperCase();
const resource = names.replaceAll('-', '_');

const migrations = 'src/infrastructure/database/migrations';
const numbers = readdirSync(migrations).map((file) => Number.parseInt(file, 10) || 0);
const version = String(Math.max(...numbers) + 1);
const migration = `Create${Many}${version}`;

const files = {
  [`src/modules/${names}/index.ts`]: `export { ${Many}Module } from './${names}.module.js';\n`,

  [`src/modules/${names}/${names}.module.ts`]: `import { Module } from '@nestjs/common';
import { ${Many}Controller } from './${names}.controller.js';
import { ${Many}Repository } from './${names}.repository.js';
import { ${Many}Service } from './${names}.service.js';
import './${names}.capability.js';

/** ${title} of users. */
@Module({
  controllers: [${Many}Controller],
  providers: [${Many}Service, ${Many}Repository],
})
export class ${Many}Module {}
`,

  [`src/modules/${names}/${names}.capability.ts`]: `import { apiScopes } from '../../infrastructure/auth/index.js';

const SCOPES = apiScopes({ '${resource}:write': 'Create ${pluralWords}' });

declare module '../../infrastructure/auth/index.js' {
  interface Scopes extends Record<keyof typeof SCOPES, never> {}
}
`,

  [`src/modules/${names}/${names}.controller.ts`]: `import { Body, Controller, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { CREATE_${constant}, Create${One}Request, ${One}Response } from './${names}.dto.js';
import { ${Many}Service } from './${names}.service.js';

@Topic('${title}', 'Manage the ${pluralWords} of your users.')
@Controller('${names}')
export class ${Many}Controller {
  constructor(private readonly ${many}: ${Many}Service) {}

  @Post('create')
  @PlatformOperation(CREATE_${constant}, '${resource}:write')
  create(@CurrentClient() client: AuthenticatedClient, @Body() request: Create${One}Request): Promise<${One}Response> {
    return this.${many}.create(client, request);
  }
}
`,

  [`src/modules/${names}/${names}.dto.ts`]: `import { ApiProperty } from '@nestjs/swagger';
import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { ExternalUserIdField, TextField } from '../../infrastructure/validation/index.js';

const MAX_NAME_LENGTH = 100;

const EXAMPLE_${constant} = {
  id: '8d3f7a52-6f0b-4a6e-9b1d-0c5e2a7f4b10',
  name: 'Birthday',
  created_at: '2026-01-31T08:15:30.123Z',
};

export class Create${One}Request {
  @ExternalUserIdField()
  external_user_id!: string;

  @TextField({ max: MAX_NAME_LENGTH, description: 'A name of your choice.', example: EXAMPLE_${constant}.name })
  name!: string;
}

export class ${One}Response {
  @ApiProperty({ type: String, format: 'uuid', description: 'ID of the ${words}.', example: EXAMPLE_${constant}.id })
  id!: string;

  @ApiProperty({ type: String, description: 'The name of the ${words}.', example: EXAMPLE_${constant}.name })
  name!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the ${words} was created.',
    example: EXAMPLE_${constant}.created_at,
  })
  created_at!: Date;
}

export const CREATE_${constant}: OperationDocument = {
  operationId: 'create${One}',
  repeatable: 'never',
  ifRepeated: 'Each request creates another ${words}.',
  summary: 'Create ${article} ${words}',
  description: 'Creates ${article} ${words} for one of your users.',
  body: Create${One}Request,
  response: ${One}Response,
  responseDescription: 'The ${words} was created.',
  responseExample: EXAMPLE_${constant},
  errors: [],
};
`,

  [`src/modules/${names}/${names}.service.ts`]: `import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import type { ${One} } from './${name}.entity.js';
import type { Create${One}Request, ${One}Response } from './${names}.dto.js';
import { ${Many}Repository } from './${names}.repository.js';

/** Manages the ${pluralWords} of users. */
@Injectable()
export class ${Many}Service {
  constructor(
    private readonly repository: ${Many}Repository,
    private readonly clock: Clock,
  ) {}

  @Transactional()
  async create(client: AuthenticatedClient, request: Create${One}Request): Promise<${One}Response> {
    const created: ${One} = {
      id: randomUUID(),
      clientId: client.clientId,
      externalUserId: request.external_user_id,
      name: request.name,
      createdAt: this.clock.now(),
    };
    await this.repository.insert(created);
    return toResponse(created);
  }
}

function toResponse({ id, name, createdAt }: ${One}): ${One}Response {
  return { id, name, created_at: createdAt };
}
`,

  [`src/modules/${names}/${names}.repository.ts`]: `import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { ${One} } from './${name}.entity.js';

@Injectable()
export class ${Many}Repository {
  constructor(private readonly transaction: Transaction) {}

  async insert(${one}: ${One}): Promise<void> {
    await this.transaction.manager.insert(${One}, ${one});
  }
}
`,

  [`src/modules/${names}/${name}.entity.ts`]: `import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../infrastructure/database/index.js';

/** ${articleTitle} ${words} of a user. */
@Entity({ name: '${table}' })
export class ${One} extends DatedRow {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  @Column({ type: 'varchar', length: 100 })
  name!: string;
}
`,

  [`${migrations}/${version}-create-${names}.ts`]: `import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

export class ${migration} implements MigrationInterface {
  readonly name = '${migration}';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
  }

  down(): never {
    throw new Error('The last release works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  \`CREATE TABLE IF NOT EXISTS ${table} (
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    external_user_id varchar(256) NOT NULL,
    name varchar(100) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT ${table}_pkey PRIMARY KEY (id),
    CONSTRAINT ${table}_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
  )\`,

  'CREATE INDEX IF NOT EXISTS ${table}_user_index ON ${table} (client_id, external_user_id)',
];
`,

  [`test/e2e/${names}/${names}.spec.ts`]: `import { documentedOperation } from '../../support/documents/operations.js';
import { invalidField, startTestApp, type TestApp } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';

const CREATE_${constant} = documentedOperation('create${One}');

describe('${title}', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

  const create = (body: object) =>
    service.request<{ id: string }>(CREATE_${constant}.path, {
      body: { external_user_id: 'user-1', ...body },
      as: service.development,
    });

  it('creates ${article} ${words} for the user', async () => {
    const { status, body } = await create({ name: 'Birthday' });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['id', 'name', 'created_at']);
    const rows = await service.database.query('SELECT * FROM ${table} WHERE id = $1', [body.id]);
    expect(rows).toMatchObject([
      { client_id: service.development.clientId, external_user_id: 'user-1', name: 'Birthday' },
    ]);
  });

  it.each([
    ['The name field is required.', {}],
    ['The name field must be a string.', { name: 7 }],
    ['The name field must not be greater than 100 characters.', { name: 'a'.repeat(101) }],
  ])('rejects an invalid name: %s', async (message, body) => {
    expect(await create(body)).toMatchObject({ status: 400, body: invalidField(message) });
  });

  it('returns the usual errors', () =>
    expectUsualErrors(service, CREATE_${constant}.path, '${table}', { body: CREATE_${constant}.body }));
});
`,
};

const changed = {
  'src/app.module.ts': [
    into(
      /^(?:import .* from '\.\/modules\/.*;\n)+/m,
      `import { ${Many}Module } from './modules/${names}/index.js';\n`,
    ),
    into(/(?<=^const MODULES = \[\n)(?: {2}.*\n)+/m, `  ${Many}Module,\n`),
  ],
};

/** Returns a change that adds a line to an alphabetical list. Imports are in the order of their paths. */
function into(place, line) {
  const keyOf = (text) => text.split(' from ').at(-1).replace("'", '');
  return change(place, (found) => {
    const lines = found.match(/.+\n/g);
    const next = lines.findIndex((each) => keyOf(each) > keyOf(line));
    return lines.toSpliced(next < 0 ? lines.length : next, 0, line).join('');
  });
}

function change(place, edit) {
  return (text, file) => {
    if (!place.test(text)) fail(`Cannot change ${file}: it has no match for ${place}.`);
    return text.replace(place, edit);
  };
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

// Computed before anything is written, so that a failure changes no file.
const texts = Object.entries(changed).map(([file, edits]) => [
  file,
  edits.reduce((text, edit) => edit(text, file), readFileSync(file, 'utf8')),
]);
for (const [file, text] of [...Object.entries(files), ...texts]) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const written = [...Object.keys(files), ...Object.keys(changed)];
execFileSync(process.execPath, [
  'node_modules/prettier/bin/prettier.cjs',
  '--write',
  '--log-level=warn',
  ...written,
]);

console.log(`Created the module ${names} with POST /${names}/create:

${Object.keys(files)
  .map((file) => `  ${file}`)
  .join('\n')}

Changed ${Object.keys(changed).join(', ')}.

Next steps:
1. Replace the placeholder texts in the files above.
2. Run npm run openapi && npm run docs, which write the API document and the generated pages.
3. Run npm run jest -- test/architecture test/e2e/${names}/${names}.spec.ts test/e2e/database/migrations.spec.ts
4. Read docs/extending.md to add operations, errors, limits and events.`);
