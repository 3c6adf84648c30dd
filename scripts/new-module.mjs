#!/usr/bin/env node
/*
 * `npm run new:module <names>`, for instance `npm run new:module gift-cards`: a small, complete module with one
 * operation of the platform API, which passes all checks as it is. What it is about is then up to you: docs/extending.md.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const [, , names = ''] = process.argv;
const HOUSE = 'docs/architecture.md';

if (!existsSync(HOUSE)) fail('Run it in the root folder of the project.');
if (!/^[a-z]+(?:-[a-z]+)*s$/.test(names)) {
  fail('Give the name of the module: what it keeps, in the plural, such as gift-cards.');
}
if (existsSync(`src/modules/${names}`)) fail(`There is a module ${names} already.`);

const name = names.replace(/ies$/, 'y').replace(/s$/, '');
const words = name.replaceAll('-', ' ');
const manyWords = names.replaceAll('-', ' ');
const classOf = (text) => text.replaceAll(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
const [One, Many] = [classOf(name), classOf(names)];
const many = Many[0].toLowerCase() + Many.slice(1);
const title = manyWords[0].toUpperCase() + manyWords.slice(1);
const table = name.replaceAll('-', '_');
const constant = table.toUpperCase();

const migrations = 'src/infrastructure/database/migrations';
const [last] = readFileSync(`${migrations}/index.ts`, 'utf8')
  .match(/\d{13}/g)
  .toSorted()
  .slice(-1);
const version = String(Number(last) + 1);
const migration = `Create${Many}${version}`;

const files = {
  [`src/modules/${names}/index.ts`]: `export { ${Many}Module } from './${names}.module.js';\n`,

  [`src/modules/${names}/${names}.module.ts`]: `import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ${One} } from './${name}.entity.js';
import { ${Many}Controller } from './${names}.controller.js';
import { ${Many}Repository } from './${names}.repository.js';
import { ${Many}Service } from './${names}.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([${One}])],
  controllers: [${Many}Controller],
  providers: [${Many}Service, ${Many}Repository],
})
export class ${Many}Module {}
`,

  [`src/modules/${names}/${names}.controller.ts`]: `import { Controller, Post } from '@nestjs/common';
import { Caller, type ApiCaller } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { Topic, withMessages } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { NAME_TAKEN } from './${name}-errors.js';
import { Create${One}Request, EXAMPLE_${constant}, ${One}Response } from './${names}.dto.js';
import { ${Many}Service } from './${names}.service.js';

@Topic('${title}', 'What they are for.')
@Controller('${names}')
export class ${Many}Controller {
  constructor(private readonly ${many}: ${Many}Service) {}

  @Post('create')
  @PlatformOperation({
    operationId: 'create${One}',
    summary: 'Create ${words}',
    description: 'Creates a ${words} of one of your users. Call it when … A user has each name once.',
    body: Create${One}Request,
    response: ${One}Response,
    responseDescription: 'The ${words} was created.',
    responseExample: EXAMPLE_${constant},
    errors: [withMessages(INVALID_FIELD, 'The name field is required.', NAME_TAKEN)],
  })
  create(@Caller() caller: ApiCaller, @JsonBody() request: Create${One}Request): Promise<${One}Response> {
    return this.${many}.create(caller, request);
  }
}
`,

  [`src/modules/${names}/${names}.dto.ts`]: `import { ApiProperty } from '@nestjs/swagger';
import { ExternalUserId, Field, isString, maximumCharacters } from '../../infrastructure/validation/index.js';

/** As the column. */
const NAME_LENGTH = 100;

export const EXAMPLE_${constant} = {
  id: '8d3f7a52-6f0b-4a6e-9b1d-0c5e2a7f4b10',
  name: 'Birthday',
  created_at: '2026-01-31T08:15:30.123Z',
};

export class Create${One}Request {
  @ExternalUserId()
  external_user_id!: string;

  @Field({
    rules: [isString, maximumCharacters(NAME_LENGTH)],
    document: {
      type: String,
      minLength: 1,
      maxLength: NAME_LENGTH,
      description: 'Your own name for it.',
      example: EXAMPLE_${constant}.name,
    },
  })
  name!: string;
}

export class ${One}Response {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the ${words}.',
    example: EXAMPLE_${constant}.id,
  })
  id!: string;

  @ApiProperty({ type: String, description: 'The name that you gave it.', example: EXAMPLE_${constant}.name })
  name!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it was created.',
    example: EXAMPLE_${constant}.created_at,
  })
  created_at!: Date;
}
`,

  [`src/modules/${names}/${name}-errors.ts`]: `/** A message of \`INVALID_FIELD\`. An error with a code of its own is a new \`ErrorKind\`. */
export const NAME_TAKEN = 'The name has already been taken.';
`,

  [`src/modules/${names}/${names}.service.ts`]: `import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ApiCaller } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import type { ${One} } from './${name}.entity.js';
import { NAME_TAKEN } from './${name}-errors.js';
import type { Create${One}Request, ${One}Response } from './${names}.dto.js';
import { ${Many}Repository } from './${names}.repository.js';

/** ${title} of users. */
@Injectable()
export class ${Many}Service {
  constructor(
    private readonly repository: ${Many}Repository,
    private readonly clock: Clock,
  ) {}

  /** Of rivals with the same name one gets it: the database decides. */
  @Transactional()
  async create(caller: ApiCaller, request: Create${One}Request): Promise<${One}Response> {
    const created: ${One} = {
      id: randomUUID(),
      clientId: caller.clientId,
      externalUserId: request.external_user_id,
      name: request.name,
      createdAt: this.clock.now(),
    };
    if (!(await this.repository.add(created))) throw INVALID_FIELD.error(NAME_TAKEN);
    return inWordsOfTheApi(created);
  }
}

function inWordsOfTheApi({ id, name, createdAt }: ${One}): ${One}Response {
  return { id, name, created_at: createdAt };
}
`,

  [`src/modules/${names}/${names}.repository.ts`]: `import { Injectable } from '@nestjs/common';
import { Transaction, violatesUnique } from '../../infrastructure/database/index.js';
import { ${One} } from './${name}.entity.js';

@Injectable()
export class ${Many}Repository {
  constructor(private readonly transaction: Transaction) {}

  /** @returns whether it was added; a user has no name twice */
  async add(${name.includes('-') ? 'added' : name}: ${One}): Promise<boolean> {
    try {
      await this.transaction.manager.insert(${One}, ${name.includes('-') ? 'added' : name});
      return true;
    } catch (error) {
      if (violatesUnique(error, '${table}_user_name_key')) return false;
      throw error;
    }
  }
}
`,

  [`src/modules/${names}/${name}.entity.ts`]: `import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';

/** What is kept of a ${words}. */
@Entity({ name: '${table}' })
@Unique('${table}_user_name_key', ['clientId', 'externalUserId', 'name'])
export class ${One} {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: '${table}_pkey' })
  id!: string;

  @ForeignKey('api_client', { name: '${table}_client_fkey' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  @Column({ type: 'varchar', length: 100 })
  name!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
`,

  [`${migrations}/${version}-create-${names}.ts`]: `import type { MigrationInterface, QueryRunner } from 'typeorm';

/** ${title} of users. */
export class ${migration} implements MigrationInterface {
  readonly name = '${migration}';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(\`
      CREATE TABLE ${table} (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        external_user_id varchar(256) NOT NULL,
        name varchar(100) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT ${table}_pkey PRIMARY KEY (id),
        CONSTRAINT ${table}_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT ${table}_user_name_key UNIQUE (client_id, external_user_id, name)
      );
    \`);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(\`DROP TABLE ${table};\`);
  }
}
`,

  [`test/e2e/${names}.spec.ts`]: `import { CREATE_${constant} } from '../support/operations.js';
import { invalidField, startTestApp, type TestApp } from '../support/test-app.js';

describe('Create ${words}', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

  const create = (body: object, as = service.development) =>
    service.call<{ id: string }>(CREATE_${constant}.path, { body: { external_user_id: 'user-1', ...body }, as });

  it('keeps it for the user', async () => {
    const { status, body } = await create({ name: 'kept' });
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['id', 'name', 'created_at']);
    const rows = await service.database.query('SELECT * FROM ${table} WHERE id = $1', [body.id]);
    expect(rows).toMatchObject([
      { client_id: service.development.clientId, external_user_id: 'user-1', name: 'kept' },
    ]);
  });

  it('gives each name to one of 20 rivals, and to each client’s user', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ name: 'rivals' })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 400).map(({ body }) => body);
    expect(refused).toEqual(Array.from({ length: 19 }, () => invalidField('The name has already been taken.')));
    expect((await create({ name: 'rivals' }, service.production)).status).toBe(200);
  });

  it.each([
    [{}, 'The name field is required.'],
    [{ name: 7 }, 'The name field must be a string.'],
    [{ name: 'a'.repeat(101) }, 'The name field must not be greater than 100 characters.'],
  ])('refuses %j', async (body, message) => {
    expect(await create(body)).toMatchObject({ status: 400, body: invalidField(message) });
  });
});
`,
};

const changed = {
  'src/app.module.ts': [
    after(
      /^import .* from '\.\/modules\/.*;\n(?!import)/m,
      `import { ${Many}Module } from './modules/${names}/index.js';\n`,
    ),
    after(/^ {2}platform: \[\n(?: {4}.*\n)*/m, `    ${Many}Module,\n`),
  ],
  [`${migrations}/index.ts`]: [
    after(/^(?:import .*\n)+/m, `import { ${migration} } from './${version}-create-${names}.js';\n`),
    after(/^export const MIGRATIONS = \[\n(?: {2}.*\n)*/m, `  ${migration},\n`),
  ],
  'test/architecture/dependency-rules.ts': [
    after(/^export const MODULE_ARROWS.*\n/m, `  ${names.includes('-') ? `'${names}'` : names}: [],\n`),
  ],
  'docs/architecture.md': [
    after(/^\| module .*\n\| -.*\n(?:\| .*\n)*/m, `| \`${names}\` | ${manyWords} of users | |\n`),
  ],
  'test/support/operations.ts': [
    after(
      /^export interface BodyOperation [^}]*}\n/m,
      `
export const CREATE_${constant}: BodyOperation = {
  id: 'create${One}',
  path: '/${names}/create',
  credentials: 'basic',
  body: { external_user_id: 'user-1', name: 'Birthday' },
};
`,
    ),
    after(/^export const BODY_OPERATIONS.*\n/m, `  CREATE_${constant},\n`),
  ],
};

/** What is added to a file right behind what is found. */
function after(place, addition) {
  return (text, file) => {
    if (!place.test(text)) fail(`There is no place for the module in ${file}; it looks for ${place}.`);
    return text.replace(place, (found) => found + addition);
  };
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

// Nothing is written before everything has found its place.
const texts = Object.entries(changed).map(([file, additions]) => [
  file,
  additions.reduce((text, add) => add(text, file), readFileSync(file, 'utf8')),
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

console.log(`The module ${names} is there, with POST /${names}/create:

${Object.keys(files)
  .map((file) => `  ${file}`)
  .join('\n')}

and it has its place in ${Object.keys(changed).join(', ')}.

Now
1. say what it is about: the words of the dto, the controller and ${HOUSE} are placeholders;
2. npm run openapi && npm run docs, and add the operation to the table of README.md;
3. npm run jest -- test/architecture test/e2e/${names}.spec.ts test/e2e/migrations.spec.ts
4. read docs/extending.md for what may be missing: a limit, errors of its own, an event, an audit entry.`);
