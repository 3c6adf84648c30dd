import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { advisoryLockKey } from '../../src/infrastructure/database/index.js';
import { DAY } from '../../src/infrastructure/time/index.js';
import { addOrganization, fillAuditLog } from '../support/logs/audit-entries.js';
import { COMMAND_TIMEOUT, Commands, type DescribedCommand } from '../support/programs/commands.js';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { Program, run, type Ended } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';

import.meta.jest.setTimeout(COMMAND_TIMEOUT);

const ROOT = join(import.meta.dirname, '../..');
/** Starts the build itself: which files a program loads cannot be seen in the bundle. */
const PROGRAM = join(ROOT, 'bin/mcs-admin.js');
const UNREACHABLE_URL = 'postgres://user:password@127.0.0.1:1/none';
const SECRET = /^mcs_(?:dev|live)_[0-9A-Za-z]{49}$/;

describe('mcs-admin', () => {
  let folder: string;
  let database: TestDatabase;
  let environment: Record<string, string>;
  let organizationId: string;
  let commands: Commands;
  let development: { client_id: string; secret: string };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'commands-'));
    database = await cloneDatabase({ empty: true });
    environment = {
      DATABASE_URL: database.url,
      DATABASE_START_TIMEOUT_MS: '0',
      DATA_DIR: join(folder, 'data'),
      SECRET_PEPPER: randomBytes(32).toString('base64'),
      KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    rememberSecret(environment['SECRET_PEPPER'] ?? '', environment['KEY_ENCRYPTION_KEY'] ?? '');
    commands = new Commands(environment);
  });
  afterAll(async () => {
    await Program.endAll();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const inOwnProcess: Commands['inOwnProcess'] = (...command) => commands.inOwnProcess(...command);
  const cli: Commands['run'] = (...command) => commands.run(...command);
  const result = <Result>(command: string, input?: string): Promise<Result> =>
    commands.result(command, input);
  const expectError: Commands['expectError'] = (...command) => commands.expectError(...command);

  describe('database size', () => {
    it('calculates what a load needs, without a database', async () => {
      const { output } = await commands.runWith(
        { DATABASE_URL: UNREACHABLE_URL },
        'database size --rps 500 --days 10',
      );
      expect(JSON.parse(output)).toMatchObject({
        request_log: { entries_per_day: 43_200_000, gb: 160 },
        processes: { http: 2, workers: 2 },
      });
    });

    it('rejects a value that is not a number', () =>
      expectError(
        'database size --rps 500 --token-hours day',
        'The value of --token-hours must be a number, such as 500 or 0.5.',
      ));
  });

  describe('a command in another folder than that of the service', () => {
    it.each(['api-key list --client x', 'organization list', 'doctor', 'migrate'])(
      'creates no database, and names the folder: %s',
      async (command) => {
        const data = join(folder, 'elsewhere', '.data');
        const { code, output, errors } = await inOwnProcess(command, '', {
          DATABASE_URL: '',
          DATA_DIR: data,
        });
        expect([code, output]).toEqual([1, '']);
        expect(errors).toContain(`DATA_DIR=${data} has none`);
        expect(existsSync(dirname(data))).toBe(false);
      },
    );

    it('creates no database in a directory that has other files only, such as that of the demo', async () => {
      const data = join(folder, 'other');
      await mkdir(join(data, 'demo'), { recursive: true });
      const { code, errors } = await inOwnProcess('organization list', '', {
        DATABASE_URL: '',
        DATA_DIR: data,
      });
      expect({ code, errors }).toEqual({
        code: 1,
        errors: expect.stringContaining(`DATA_DIR=${data} has none`),
      });
      expect(await readdir(data)).toEqual(['demo']);
    });
  });

  describe('--help', () => {
    let root: DescribedCommand;
    let all: DescribedCommand[];

    beforeAll(async () => {
      root = await commands.describe();
      const below = (command: DescribedCommand): DescribedCommand[] => [
        command,
        ...command.commands.flatMap(below),
      ];
      all = below(root);
    });

    it('describes every command and option', () => {
      const names = (command: DescribedCommand): string[] => command.commands.map(({ name }) => name);
      expect(Object.fromEntries(root.commands.map((command) => [command.name, names(command)]))).toEqual({
        organization: ['create', 'list', 'allow-passwords'],
        client: ['list', 'create', 'rotate-secret', 'activate-secret', 'restrict-secret', 'enable'],
        'api-key': ['create', 'list', 'rotate', 'revoke'],
        'external-user': ['erase', 'erasure'],
        'token-key': ['list', 'rotate'],
        database: ['size', 'distribute'],
        'data-key': ['rewrap'],
        user: ['add', 'list', 'disable', 'enable', 'unlock', 'reset-two-factor'],
        endpoint: ['list', 'pause', 'resume'],
        'service-token': ['create', 'list', 'rotate', 'revoke'],
        detection: ['import'],
        application: ['list', 'export'],
        audit: ['verify', 'head', 'export', 'streams'],
        'request-log': ['tail', 'export', 'partitions', 'rebuild-rollups'],
        migrate: [],
        doctor: [],
      });
      for (const { name, description, help, options } of all) {
        expect(help).toContain(name);
        expect(help).toContain('-h, --help');
        if (name !== root.name) expect(description).toMatch(/^[A-Z].{10,}$/);
        for (const option of options) expect(option.description).not.toBe('');
      }
    });

    it('loads neither the application nor its modules, which takes seconds of CPU time', async () => {
      const coverage = join(folder, 'coverage');
      const codes = {
        '--help': 0,
        '--version': 0,
        'doctor --help': 0,
        'database size --rps 100': 0,
        migrate: 1,
      };
      const unreachable = { ...environment, DATABASE_URL: UNREACHABLE_URL };
      const ended = await Promise.all(
        Object.keys(codes).map((command) =>
          run(PROGRAM, {
            arguments: command.split(' '),
            environment: { ...unreachable, NODE_V8_COVERAGE: coverage },
          }),
        ),
      );
      expect(ended.map(({ code }) => code)).toEqual(Object.values(codes));
      const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
        version: string;
      };
      expect(ended[1]?.output).toBe(`${version}\n`);
      const files = await readdir(coverage);
      expect(files).toHaveLength(Object.keys(codes).length);
      let withoutNest = 0;
      for (const file of files) {
        const { result } = JSON.parse(await readFile(join(coverage, file), 'utf8')) as {
          result: { url: string }[];
        };
        const loaded = result.map(({ url }) => url);
        expect(loaded.filter((url) => /dist\/src\/(?:modules|app\.module)/.test(url))).toEqual([]);
        withoutNest += Number(!loaded.some((url) => url.includes('/@nestjs/')));
      }
      // The help and the version.
      expect(withoutNest).toBe(2);
    });

    it('shows no option that takes a password or secret as an argument', () => {
      const secretOptions = all
        .flatMap(({ options }) => options)
        .filter(({ flags }) => /password|secret|key/i.test(flags) && !flags.endsWith('_id>'));
      expect(secretOptions.map(({ flags }) => flags)).toEqual(['--password-stdin', '--password-stdin']);
    });

    it('needs no database, and unknown commands fail', async () => {
      const environment = { DATABASE_URL: UNREACHABLE_URL };
      const [help, ofCommand, unknown, incomplete] = await Promise.all([
        inOwnProcess('--help', '', environment),
        inOwnProcess('client rotate-secret --help', '', environment),
        inOwnProcess('nonsense', '', environment),
        inOwnProcess('client rotate-secret', '', environment),
      ]);
      expect(help).toMatchObject({ code: 0, errors: '' });
      expect(help.output).toMatch(/^Usage: mcs-admin \[options\]/);
      expect(ofCommand).toMatchObject({ code: 0, errors: '' });
      expect(ofCommand.output).toMatch(/--client <client_id>[\s\S]+--overlap-hours <hours>/);
      expect(unknown.code).toBe(1);
      expect(unknown.errors).toMatch(/^error: unknown command 'nonsense'/);
      expect(incomplete.code).toBe(1);
      expect(incomplete.errors).toMatch(/^error: required option '--client <client_id>' not specified/);
      for (const { errors } of [unknown, incomplete]) expect(errors).not.toMatch(/\n\s+at /);
    });
  });

  it('never builds: says how to, or that the build is older than the sources', async () => {
    const copy = join(folder, 'copy');
    const at = (file: string): string => join(copy, file);
    const scripts = ['build-stamp.mjs', 'compile.mjs', 'hash-of-files.mjs'].map((name) => `scripts/${name}`);
    for (const file of ['bin/mcs-admin.js', ...scripts])
      await cp(join(ROOT, file), at(file), { recursive: true });
    for (const file of ['.swcrc', 'nest-cli.json', 'ormconfig.ts', 'package-lock.json'])
      await cp(join(ROOT, file), at(file));
    await writeFile(at('package.json'), '{ "type": "module" }');
    const command = (file = 'bin/mcs-admin.js'): Promise<Ended> => run(at(file), { folder: tmpdir() });
    expect(await command()).toEqual({
      code: 1,
      output: '',
      errors: `${copy}/ is not built. Run "npm ci" and "npm run build" in this folder.\n`,
    });

    await mkdir(at('dist/src/cli'), { recursive: true });
    await writeFile(at('dist/src/cli/main.js'), `process.stdout.write('ran');`);
    expect((await command()).errors).toBe(`${copy}/ has no packages. Run "npm ci" in this folder.\n`);
    await mkdir(at('node_modules'));
    expect(await command()).toEqual({ code: 0, output: 'ran', errors: '' });
    // As on a PATH.
    await symlink(at('bin/mcs-admin.js'), at('mcs-admin'));
    expect(await command('mcs-admin')).toEqual({ code: 0, output: 'ran', errors: '' });

    await mkdir(at('src'));
    await writeFile(at('src/main.ts'), '');
    expect(await command()).toEqual({
      code: 0,
      output: 'ran',
      errors: `${copy}/ was changed after it was built. Run "npm run build" in this folder to use the changes.\n`,
    });
    expect(await readdir(at('dist'))).toEqual(['src']);
    const { hashOfSources, writeStamp } = (await import(
      pathToFileURL(at('scripts/build-stamp.mjs')).href
    )) as { hashOfSources(): string; writeStamp(hash: string): void };
    writeStamp(hashOfSources());
    expect((await command()).errors).toBe('');
  });

  it('migrate applies pending migrations and reports an unreachable database', async () => {
    const { migrations } = await result<{ migrations: string[] }>('migrate');
    expect(migrations).toContain('DaysInRows1790000000101');
    const [again, unreachable] = await Promise.all([
      result('migrate'),
      commands.runWith({ DATABASE_URL: UNREACHABLE_URL }, 'migrate'),
    ]);
    expect(again).toEqual({ migrations: [] });
    expect(unreachable).toEqual({
      code: 1,
      output: '',
      errors:
        'The database at 127.0.0.1:1 is unreachable (ECONNREFUSED). Is it running, and is DATABASE_URL right?\n',
    });
  });

  it('migrate says on standard error for whom it waits, and only its result on standard output', async () => {
    const backup = new pg.Client({ connectionString: database.url });
    await backup.connect();
    await backup.query(`SELECT pg_advisory_lock(${advisoryLockKey('migrate')})`);
    const program = new Program(PROGRAM, { arguments: ['migrate'], environment });
    await program.waitForErrors(/This process waits until another process ends its work/);
    await backup.end();
    const { code, output } = await program.ended;
    expect([code, JSON.parse(output)]).toEqual([0, { migrations: [] }]);
  });

  it('organization create shows the secrets of the new organization once and refuses invalid input', async () => {
    const create = (name: string, email: string): string =>
      `organization create --name '${name}' --owner-email ${email} --owner-name 'Ada Lovelace'`;
    const password = 'correct horse battery staple';
    rememberSecret(password);
    const [created, withPassword] = await Promise.all([
      result<{
        organization_id: string;
        development: typeof development;
        production: typeof development;
        dashboard: { email: string; password: string };
      }>(create('Acme', 'Ada@Example.com')),
      result<Record<string, unknown>>(
        `${create('Globex', 'owner@globex.example')} --password-stdin`,
        `${password}\n`,
      ),
    ]);
    ({ organization_id: organizationId, development } = created);
    rememberSecret(development.secret, created.production.secret, created.dashboard.password);
    expect(created).toEqual({
      organization_id: expect.any(String),
      development: { client_id: expect.any(String), secret: expect.stringMatching(/^mcs_dev_/) },
      production: { client_id: expect.any(String), secret: expect.stringMatching(/^mcs_live_/) },
      dashboard: {
        email: 'ada@example.com',
        password: expect.stringMatching(/^.{12,}$/),
        password_expires_at: expect.stringMatching(/Z$/),
      },
    });
    // A password that was given is not shown.
    expect(withPassword['dashboard']).toEqual({ email: 'owner@globex.example' });
    for (const kind of ['development', 'production'] as const) {
      rememberSecret((withPassword[kind] as typeof development).secret);
    }

    await Promise.all([
      expectError(create('Again', 'ada@example.com'), 'A user with this email address already exists.'),
      expectError(
        create('Short', 'short@example.com') + ' --password-stdin',
        'Choose a password of 12 to 256 characters.',
        'short',
      ),
      expectError(create('Empty', 'empty@example.com') + ' --password-stdin', 'Standard input is empty.', ''),
    ]);
    expect(await database.query('SELECT count(*)::int FROM organization')).toEqual([{ count: 2 }]);
  });

  it('client creates and lists clients, rotates and activates secrets, and enables operations', async () => {
    const bare = randomUUID();
    await database.query(`INSERT INTO organization (id, name, created_at) VALUES ($1, 'Bare', now())`, [
      bare,
    ]);
    const { client_id } = development;
    const unknownId = randomUUID();
    const [created, rotated, enabled] = await Promise.all([
      result<Record<string, string>>(`client create --organization ${bare} --environment production`),
      result<Record<string, string>>(`client rotate-secret --client ${client_id}`),
      result(`client enable --client ${client_id} --operation identify-detected-accounts`),
    ]);
    rememberSecret(created['secret'] ?? '', rotated['secret'] ?? '');
    expect(created).toEqual({
      client_id: expect.any(String),
      environment: 'production',
      secret: expect.stringMatching(SECRET),
    });
    expect(rotated).toEqual({
      client_id,
      environment: 'development',
      secret: expect.stringMatching(SECRET),
    });
    expect(rotated['secret']).not.toBe(development.secret);
    expect(enabled).toEqual({ client_id, enabled: 'identify-detected-accounts', changed: true });

    const [listed, ofOrganization, activated] = await Promise.all([
      cli('client list'),
      result<{ client_id: string; environment: string; enabled_operations: string[] }[]>(
        `client list --organization ${organizationId}`,
      ),
      result(`client activate-secret --client ${client_id}`),
      expectError(
        `client rotate-secret --client ${client_id}`,
        'A rotation is in progress: the previous secret is still accepted. A rotation with an overlap of 0 hours makes a third secret, and ends both others at once.',
      ),
      expectError(
        `client create --organization ${bare} --environment production`,
        'The organization already has a production client.',
      ),
      expectError(`client activate-secret --client ${unknownId}`, `There is no API client ${unknownId}.`),
    ]);
    expect(listed.code).toBe(0);
    expect(JSON.parse(listed.output)).toHaveLength(5);
    expect(listed.output).not.toMatch(/mcs_|secret/);
    expect(ofOrganization.map(({ environment: name }) => name).toSorted()).toEqual([
      'development',
      'production',
    ]);
    expect(ofOrganization.find((client) => client.client_id === client_id)?.enabled_operations).toEqual([
      'identify-detected-accounts',
    ]);
    expect(activated).toEqual({ client_id, activated: true });

    await Promise.all([
      expectError('client list --organization nobody', 'There is no organization nobody.'),
      expectError('client rotate-secret --client nobody', 'There is no API client nobody.'),
      expectError(
        `client rotate-secret --client ${client_id} --overlap-hours soon`,
        'The overlap must be 0 to 168 hours.',
      ),
      expectError(
        `client enable --client ${client_id} --operation anything`,
        'The operation must be identify-detected-accounts.',
      ),
    ]);
  });

  it('user add creates a user with a given or a generated password', async () => {
    const add = (email: string, role = 'member'): string =>
      `user add --organization ${organizationId} --email ${email} --name 'Grace Hopper' --role ${role}`;
    const password = 'staple battery horse correct';
    rememberSecret(password);
    const [withPassword, generated] = await Promise.all([
      inOwnProcess(`${add('grace@example.com')} --password-stdin`, password),
      result<Record<string, string>>(add('hopper@example.com', 'admin')),
      expectError(add('x@example.com', 'king'), 'The role must be one of owner, admin, member, viewer.'),
      expectError(add('no-address'), 'The email address is not valid.'),
    ]);
    rememberSecret(generated['password'] ?? '');
    expect(withPassword).toMatchObject({ code: 0, errors: '' });
    expect(JSON.parse(withPassword.output)).toEqual({
      user_id: expect.any(String),
      email: 'grace@example.com',
    });
    expect(generated).toMatchObject({
      email: 'hopper@example.com',
      password: expect.stringMatching(/^.{12,}$/),
    });
    const inDays = (Date.parse(generated['password_expires_at'] ?? '') - Date.now()) / DAY;
    expect(Math.round(inDays)).toBe(7);
    const [row] = await database.query<{ password_hash: string }>(
      `SELECT password_hash FROM dashboard_user WHERE email = 'grace@example.com'`,
    );
    expect(row?.password_hash).toMatch(/^\$argon2id\$/);
  });

  it('detection import records valid lines, reports invalid ones and can be repeated', async () => {
    const { client_id } = development;
    const line = (more: Record<string, unknown>): string =>
      JSON.stringify({
        client_id,
        external_user_id: 'user-1',
        detected_at: '2026-01-31T08:15:30.123Z',
        ...more,
      });
    const good = [
      line({ merchant: 'Netflix' }),
      line({ merchant_id: 1, detected_at: '2026-01-31T08:15:30Z' }),
      line({ merchant: 'door dash', client_id: client_id.toUpperCase() }),
      line({ merchant: 'NETFLIX', detected_at: '2026-02-28T00:00:00Z' }),
    ];
    const lines = [
      good[0],
      'not json',
      good[1],
      '',
      '[]',
      line({ merchant: 'Nobody Knows This' }),
      line({ merchant: 'Netflix', client_id: randomUUID() }),
      line({ merchant: 'Netflix', external_user_id: '' }),
      line({ merchant: 'Netflix', detected_at: 'yesterday' }),
      line({ merchant_id: 999_999 }),
      line({ merchant_id: -1 }),
      good[2],
      line({}),
      good[3],
    ].join('\n');
    const file = join(folder, 'detections.ndjson');
    await writeFile(file, `${lines}\r\n`);

    const imported = await inOwnProcess(`detection import ${file}`);
    expect(imported.code).toBe(2);
    expect(JSON.parse(imported.output)).toEqual({ lines: 14, recorded: 4, skipped: 9 });
    const reported = imported.errors
      .trimEnd()
      .split('\n')
      .map((text) => /^line (\d+): .{10,}/.exec(text)?.[1]);
    expect(reported.toSorted((left, right) => Number(left) - Number(right))).toEqual(
      [2, 5, 6, 7, 8, 9, 10, 11, 13].map(String),
    );
    expect(imported.errors).toContain('line 6: The merchant "Nobody Knows This" is not known.\n');
    const rows = (): Promise<unknown[]> =>
      database.query('SELECT * FROM detected_account ORDER BY merchant_id');
    const recorded = await rows();
    expect(recorded).toHaveLength(3);
    expect(recorded).toContainEqual(
      expect.objectContaining({ merchant_id: 16, detected_at: new Date('2026-01-31T08:15:30.123Z') }),
    );

    const [again] = await Promise.all([
      result('detection import -', `${good.join('\n')}\n`),
      expectError(`detection import ${folder}/absent`, `The file ${folder}/absent cannot be read.`),
    ]);
    expect(again).toEqual({ lines: 4, recorded: 4, skipped: 0 });
    expect(await rows()).toEqual(recorded);

    await result('detection import - --no-notify', line({ merchant: 'Hulu' }));
    expect(await rows()).toHaveLength(4);
    const events = await database.query("SELECT event FROM webhook_event WHERE external_user_id = 'user-1'");
    expect(events).toEqual([{ event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE' }]);
    const entries = await database.query<Record<string, string>>(
      `SELECT actor_name, target_name FROM audit_log WHERE action = 'detected_account.import'`,
    );
    // One for each import that recorded something.
    expect(entries).toEqual(
      Array.from({ length: 3 }, () => ({ actor_name: 'operator', target_name: client_id })),
    );
  });

  it('says in one sentence that a disk is full, and ends normally if nobody reads its output', async () => {
    const audited = await addOrganization(database);
    const script = join(folder, 'shell.sh');
    await writeFile(script, 'eval "$1"\n');
    const shell = (command: string): Promise<Ended> =>
      run(script, {
        node: '/bin/bash',
        arguments: [`set -o pipefail; ${command.replace('mcs-admin', `${process.execPath} ${PROGRAM}`)}`],
        environment,
      });
    const exported = `mcs-admin audit export --format csv --organization ${audited}`;
    for (const command of ['mcs-admin organization list', exported])
      expect([command, await shell(`${command} > /dev/full`)]).toEqual([
        command,
        { code: 1, output: '', errors: 'The output cannot be written (ENOSPC).\n' },
      ]);
    for (const command of ['mcs-admin organization list', exported])
      expect([command, await shell(`${command} | true`)]).toEqual([
        command,
        { code: 0, output: '', errors: '' },
      ]);
  });

  it('application lists the newest applications and exports all without formulas', async () => {
    const empty = await cli('application export --format csv');
    expect(empty).toMatchObject({ code: 0, errors: '' });
    expect(empty.output).toMatch(/^id,received_at,role,full_name,email,[a-z_,]+\n$/);

    const columns = empty.output.trimEnd().split(',');
    for (const [day, name] of [
      '=HYPERLINK("http://evil.example")',
      '+1',
      '-1',
      '@SUM(1)',
      'Ada, "the first"',
    ].entries()) {
      await database.query(
        `INSERT INTO job_application (id, received_at, role, full_name, email, resume_url, years_experience,
                                        authorized_to_work, onsite_nyc, exceptional_at)
           VALUES ($1, $2, 'product_engineer', $3, 'ada@example.com', 'https://example.com/ada.pdf', 7, true, false, E'one\\ntwo')`,
        [randomUUID(), new Date(Date.UTC(2026, 0, day + 1)), name],
      );
    }
    const [csv, ndjson, newest] = await Promise.all([
      inOwnProcess('application export --format csv'),
      cli('application export --format ndjson'),
      result<{ full_name: string; received_at: string }[]>('application list --limit 2'),
      expectError('application export --format pdf', 'The format must be csv or ndjson.'),
      expectError('application list --limit none', 'The limit must be a positive integer.'),
    ]);

    expect(csv.code).toBe(0);
    // Spreadsheets must not take any value for a formula.
    for (const start of ['=', '+', '-', '@']) {
      expect(csv.output).not.toMatch(new RegExp(`(?:^|,)"?\\${start}`, 'm'));
    }
    expect(csv.output).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
    expect(csv.output).toContain('"Ada, ""the first"""');
    expect(csv.output).toContain('2026-01-01T00:00:00.000Z');

    expect(ndjson.code).toBe(0);
    const rows = ndjson.output
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(rows).toHaveLength(5);
    expect(Object.keys(rows[0] ?? {})).toEqual(columns);
    expect(rows.map((row) => row['full_name'])).toContain('=HYPERLINK("http://evil.example")');
    expect(rows[0]).toMatchObject({
      authorized_to_work: true,
      onsite_nyc: false,
      exceptional_at: 'one\ntwo',
    });
    expect(newest.map(({ received_at }) => received_at)).toEqual([
      '2026-01-05T00:00:00.000Z',
      '2026-01-04T00:00:00.000Z',
    ]);
  });

  it('changes of organizations leave audit log entries of an operator, in the same transaction', async () => {
    const created = await result<{
      organization_id: string;
      development: { client_id: string; secret: string };
      production: { secret: string };
      dashboard: { password: string };
    }>("organization create --name Initech --owner-email bill@initech.example --owner-name 'Bill Lumbergh'");
    const { organization_id: id, development: client } = created;
    const addUser = (email: string): string =>
      `user add --organization ${id} --email ${email} --name 'Peter Gibbons' --role owner`;
    const added = await result<{ password: string }>(addUser('peter@initech.example'));
    const rotated = await result<{ secret: string }>(`client rotate-secret --client ${client.client_id}`);
    await result(`client activate-secret --client ${client.client_id}`);
    await result(`client activate-secret --client ${client.client_id}`);
    const enable = `client enable --client ${client.client_id} --operation identify-detected-accounts`;
    expect(await result(enable)).toMatchObject({ changed: true });
    expect(await result(enable)).toMatchObject({ changed: false });
    for (const { secret } of [client, created.production, rotated]) rememberSecret(secret);
    rememberSecret(created.dashboard.password, added.password);

    const rows = await database.query<Record<string, string>>(
      'SELECT * FROM audit_log WHERE organization_id = $1 ORDER BY sequence',
      [id],
    );
    expect(new Set(rows.map(({ actor_name, actor_email }) => `${actor_name} ${actor_email}`))).toEqual(
      new Set(['operator operator']),
    );
    expect(rows.map((row) => `${row['action']} ${row['target_name']} ${row['target_environment']}`)).toEqual([
      'account.create Initech production',
      'user.add bill@initech.example production',
      'user.add peter@initech.example production',
      `secret.rotate ${client.client_id} development`,
      `secret.rotate ${client.client_id} development`,
      `client.update ${client.client_id} development`,
    ]);

    await database.query('ALTER TABLE audit_log RENAME TO audit_log_away');
    try {
      const { code } = await cli(addUser('milton@initech.example'));
      expect(code).toBe(1);
    } finally {
      await database.query('ALTER TABLE audit_log_away RENAME TO audit_log');
    }
    expect(
      await database.query("SELECT FROM dashboard_user WHERE email = 'milton@initech.example'"),
    ).toHaveLength(0);
  });

  it('audit verify finds altered and removed entries, and checks against a saved head', async () => {
    const [valid, broken] = [await addOrganization(database), await addOrganization(database)];
    const entries = await fillAuditLog(database, valid, [{}, {}, {}]);
    const [, second] = await fillAuditLog(database, broken, [{}, {}, {}]);
    const unknownId = randomUUID();
    const file = join(folder, 'head.json');
    const malformed = join(folder, 'nonsense.json');
    const intact = (id: string) => ({ organization_id: id, entries: 3, intact: true, first_broken: null });

    const head = await cli(`audit head --organization ${valid}`);
    await writeFile(file, head.output);
    await writeFile(malformed, '{"sequence":1}');
    expect(JSON.parse(head.output)).toEqual({
      organization_id: valid,
      sequence: 3,
      hash: entries[2]?.hash.toString('hex'),
      created_at: '2026-01-01T00:00:02.000Z',
    });
    const [all, one, byHead] = await Promise.all([
      result<{ intact: boolean; organizations: unknown[] }>('audit verify'),
      result(`audit verify --organization ${valid}`),
      result(`audit verify --head ${file}`),
      expectError(`audit verify --organization ${unknownId}`, `There is no organization ${unknownId}.`),
      expectError(`audit head --organization ${unknownId}`, `There is no organization ${unknownId}.`),
      expectError(`audit verify --head ${folder}/absent`, `The file ${folder}/absent cannot be read.`),
      expectError(
        `audit verify --head ${malformed}`,
        'The file does not contain a head in the format of `audit head`.',
      ),
      expectError(
        `audit verify --organization ${broken} --head ${file}`,
        `The head belongs to the organization ${valid}.`,
      ),
    ]);
    expect(all.intact).toBe(true);
    expect(all.organizations).toEqual(expect.arrayContaining([intact(valid), intact(broken)]));
    expect(one).toEqual({ intact: true, organizations: [intact(valid)] });
    expect(byHead).toEqual(one);

    await database.query(
      `BEGIN; SET LOCAL session_replication_role = replica;
         UPDATE audit_log SET actor_name = 'Eve' WHERE organization_id = '${broken}' AND sequence = 2;
         DELETE FROM audit_log WHERE organization_id = '${valid}' AND sequence = 3;
         DELETE FROM audit_chain WHERE organization_id = '${valid}';
         INSERT INTO audit_chain SELECT organization_id, sequence, created_at, hash FROM audit_log
          WHERE organization_id = '${valid}' AND sequence = 2;
         COMMIT`,
    );
    const [found, cutOff] = await Promise.all([cli('audit verify'), cli(`audit verify --head ${file}`)]);
    expect(found).toMatchObject({
      code: 1,
      errors: `Organization ${broken}: Entry 2 does not match its hash.\n`,
    });
    expect(JSON.parse(found.output)).toMatchObject({
      intact: false,
      organizations: expect.arrayContaining([
        { ...intact(valid), entries: 2 },
        {
          organization_id: broken,
          entries: 1,
          intact: false,
          first_broken: {
            problem: 'altered',
            sequence: 2,
            id: second?.id,
            explanation: 'Entry 2 does not match its hash.',
          },
        },
      ]),
    });
    expect(cutOff.code).toBe(1);
    expect(JSON.parse(cutOff.output)).toMatchObject({
      intact: false,
      organizations: [{ first_broken: { problem: 'head_mismatch', sequence: 3, id: null } }],
    });
  });

  it('audit export writes the entries of one organization, oldest first and without formulas', async () => {
    const [ours, others] = [await addOrganization(database), await addOrganization(database)];
    const formulas = ['=HYPERLINK("http://evil.example")', '+1', '-1', '@SUM(1)', '\t=1', 'Ada, "the first"'];
    await fillAuditLog(database, ours, [
      ...formulas.map((actorName) => ({ actorName, contextUserAgent: actorName, targetName: null })),
      // More entries with the same time than fit in a batch.
      ...Array.from({ length: 2_100 }, (_, index) => ({
        createdAt: new Date(Date.UTC(2026, 0, index < 2_000 ? 2 : 3)),
      })),
    ]);
    await fillAuditLog(database, others, [{ actorName: 'Somebody else' }]);

    const command = `audit export --organization ${ours} --format`;
    const unknownId = randomUUID();
    const notTime = 'field must be a date and time such as 2026-01-31T08:15:30Z.';
    const [csv, ndjson, within] = await Promise.all([
      inOwnProcess(`${command} csv`),
      cli(`${command} ndjson`),
      cli(`${command} ndjson --start 2026-01-01T00:00:02+00 --end 2026-01-02T00:00Z`),
      expectError(`${command} pdf`, 'The format must be csv or ndjson.'),
      expectError(`${command} csv --start yesterday`, `The start ${notTime}`),
      expectError(`${command} csv --end 2026-02-30T00:00:00Z`, `The end ${notTime}`),
      expectError(
        `${command} csv --start 2026-01-02T00:00:00Z --end 2026-01-01T00:00:00Z`,
        'The start must not be after the end.',
      ),
      expectError(
        `audit export --organization ${unknownId} --format csv`,
        `There is no organization ${unknownId}.`,
      ),
    ]);

    expect(csv).toMatchObject({ code: 0, errors: '' });
    // Exports are recorded too, in no particular order because they run at the same time.
    const isExport = (text: string): boolean => text.includes('audit_log.export');
    const allLines = csv.output.trimEnd().split('\n');
    expect(allLines.filter(isExport).at(0)).toMatch(
      /,audit_log\.export,success,operator,operator,audit_log,/,
    );
    const lines = allLines.filter((line) => !isExport(line));
    expect(lines[0]).toBe(
      'id,datetime,event.action,event.outcome.status,actor.name,actor.email,target.type,target.name,' +
        'target.environment,context.ip,context.user_agent,changes',
    );
    expect(lines).toHaveLength(1 + formulas.length + 2_100);
    // Spreadsheets must not take any value for a formula.
    expect(csv.output).not.toMatch(/(?:^|,)"?[=+\-@\t]/m);
    expect(csv.output).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
    expect(lines[2]).toMatch(
      /^[0-9a-f-]{36},2026-01-01T00:00:01\.000Z,user\.add,success,'\+1,ada@example\.com,user,,production,203\.0\.113\.7,'\+1,$/,
    );
    expect(csv.output).not.toContain('Somebody else');

    const rowsOf = ({ code, errors, output }: Ended): Record<string, unknown>[] => {
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      return output
        .trimEnd()
        .split('\n')
        .filter((text) => !isExport(text))
        .map((text) => JSON.parse(text) as Record<string, unknown>);
    };
    const rows = rowsOf(ndjson);
    expect(rows).toHaveLength(formulas.length + 2_100);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows[0]).toEqual({
      id: expect.any(String),
      datetime: '2026-01-01T00:00:00.000Z',
      event: { action: 'user.add', outcome: { status: 'success' } },
      actor: { name: formulas[0], email: 'ada@example.com' },
      target: { type: 'user', name: null, environment: 'production' },
      context: { ip: '203.0.113.7', user_agent: formulas[0] },
      changes: null,
    });
    expect(rowsOf(within)).toEqual(rows.slice(2, formulas.length + 2_000));
  });

  it('creates no data directory if DATABASE_URL is set', () => {
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('token-key rotates and lists signing keys', async () => {
    expect(await result('token-key list')).toEqual([]);
    const first = { kid: expect.stringMatching(/^[0-9a-f-]{36}$/), algorithm: 'ES256' };
    expect(await result('token-key rotate')).toMatchObject({ ...first, state: 'signing' });
    const { kid, signs_from } = await result<{ kid: string; signs_from: string }>('token-key rotate');
    await expectError(
      'token-key rotate',
      `A new key is already published and starts signing at ${signs_from}.`,
    );
    const keys = await result<object[]>('token-key list');
    expect(keys).toEqual([
      expect.objectContaining({ kid, algorithm: 'ES256', state: 'next', signs_from }),
      expect.objectContaining({ ...first, state: 'signing' }),
    ]);
    const members = ['kid', 'algorithm', 'created_at', 'signs_from', 'state'];
    expect(Object.keys(keys[0] ?? {})).toEqual(members);
  });

  it('data-key rewrap changes the key-encryption key', async () => {
    const { KEY_ENCRYPTION_KEY: old = '' } = environment;
    const next = randomBytes(32).toString('base64');
    rememberSecret(next);
    const withNext = (command: string): Promise<Ended> =>
      commands.runWith({ KEY_ENCRYPTION_KEY: next }, command);
    const wrongKey = {
      code: 1,
      output: '',
      errors:
        'KEY_ENCRYPTION_KEY is not the key that this database uses. Start with that key ' +
        '(outside production it is in the data directory), or with an empty database.\n',
    };
    const rewrapped = { code: 0, errors: '', output: expect.stringContaining('"data_keys": 1') };
    expect(await withNext('data-key rewrap')).toEqual(wrongKey);
    const both = { KEY_ENCRYPTION_KEY: next, PREVIOUS_KEY_ENCRYPTION_KEY: old };
    expect(await commands.runWith(both, 'data-key rewrap')).toEqual(rewrapped);
    expect(await cli('token-key rotate')).toEqual(wrongKey);
    // The new key opens what was sealed under the old one.
    expect(JSON.parse((await withNext('token-key list')).output)).toHaveLength(2);
    expect(await withNext('data-key rewrap')).toEqual(rewrapped);
  });
});
