import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { configurationDefinitions, variablesOf } from '../../src/infrastructure/config/index.js';
import { prepareProcess } from '../../src/infrastructure/bootstrap/index.js';
import { MAX_BATCH_BYTES } from '../../src/modules/events/events.dto.js';
import { Guides } from '../../src/modules/documentation/guides.js';
import { eventually } from '../support/eventually.js';
import { itWithNginx, startNginx } from '../support/programs/nginx.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { BEHIND_PROXY } from '../support/pages/visitor.js';
import '../../src/app.module.js';

const PROJECT = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');

/** Seconds that a process takes to stop after SIGTERM, at most (`termination.ts`). */
const MAX_STOP_SECONDS = 20;
/** Seconds that a process serves after SIGTERM, at most (`SHUTDOWN_DELAY_MS`), if it serves HTTP. */
const MAX_DELAY_SECONDS = 60;
/** Variables of the images of PostgreSQL and Redis. */
const FOREIGN = [
  'NODE_OPTIONS',
  'POSTGRES_PASSWORD',
  'OWNER_PASSWORD',
  'SERVICE_PASSWORD',
  'REDIS_PASSWORD',
  'REDISCLI_AUTH',
];
const key = (): string => randomBytes(32).toString('base64');

/** Returns the names of variables that a line sets, whose values or settings may be quoted. */
const namesOf = (line: string): string[] =>
  [...line.matchAll(/(?<=^|[\s"])[^\s"=-]+(?==)/g)].map(([name]) => name);

type Environment = Record<string, string>;

const KNOWN = new Set(
  configurationDefinitions().flatMap(({ target }) => variablesOf(target).map(({ name }) => name)),
);
const unknown = (names: readonly string[]): string[] =>
  names.filter((name) => !KNOWN.has(name.replace(/_FILE$/, '')) && !FOREIGN.includes(name));

/** Returns the configuration problems of a process in production, or an empty string. */
async function problemsOf(environment: Environment): Promise<string> {
  const given = { NODE_ENV: 'production', DATA_DIR: '/nowhere', ...environment };
  return prepareProcess(given, () => undefined).then(
    () => '',
    (error: Error) => error.message,
  );
}

interface ComposeService {
  readonly image: string;
  readonly mem_limit?: string;
  readonly logging?: { readonly options: Record<string, string> };
  readonly env_file?: readonly object[];
  readonly command?: readonly string[];
  readonly environment?: Environment;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Record<string, { condition: string }>;
  readonly healthcheck?: { disable?: boolean };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env?: readonly { name: string; value: string }[];
  readonly ports?: readonly { name: string; containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { preStop: { exec: { command: readonly string[] } } };
  readonly securityContext: object;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}
interface PodTemplate {
  readonly metadata?: { readonly labels: object; readonly annotations?: object };
  readonly spec: {
    readonly terminationGracePeriodSeconds?: number;
    readonly securityContext: object;
    readonly containers: readonly Container[];
  };
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly replicas?: number;
    readonly selector: { readonly matchLabels?: object };
    readonly template: PodTemplate;
    readonly ports?: readonly object[];
  };
}

const dockerfile = read('Dockerfile');
const compose = parse(read('compose.yaml'), { merge: true }) as { services: Record<string, ComposeService> };
const manifests = parseAllDocuments(read('deploy/chart/ci/example.yaml')).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as Manifest;
});

/** Returns the source file of the program that a command starts. */
const programOf = (command: readonly string[] = []): string =>
  command[0] === 'node' ? command[1]!.replace(/^dist\//, '').replace(/\.js$/, '.ts') : command.join(' ');

describe('Dockerfile', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

  it('ends in a stage without root and development packages, with a stop signal and a command', () => {
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(last).not.toMatch(/^RUN .*npm /m);
    // Only the files of packages that the programs load.
    expect(last).toMatch(/^COPY --from=build \/app\/packages \.\/node_modules$/m);
    expect(dockerfile).toMatch(/RUN npm ci --ignore-scripts/);
    expect(dockerfile).not.toMatch(/:latest\b|\bADD\b|\bsudo\b/);
    expect(programOf(JSON.parse(/^CMD (\[.*\])$/m.exec(last)?.[1] ?? '[]') as string[])).toBe('src/main.ts');
  });

  it('lets any user in group 0 write to the data directory, as OpenShift requires', () => {
    expect(last).toMatch(/^RUN install -d -o node -g 0 -m 0770 \/data$/m);
    // Another mode would keep other users from the programs.
    expect(last).not.toMatch(/^COPY .*--ch(?:own|mod)=/m);
  });

  it('copies only existing paths, which are exactly those that .dockerignore allows', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' '),
    );
    const admitted = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    for (const path of copied) {
      expect([path, existsSync(join(PROJECT, path))]).toEqual([path, true]);
      expect(admitted).toContain(`!${path}`);
    }
    expect(read('.dockerignore').split('\n')[0]).toBe('*');
    expect(admitted.filter((line) => !copied.includes(line.slice(1)))).toEqual([]);
  });

  it('copies the files of the documentation site', () => {
    const copied = [...last.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' '),
    );
    const files = new Guides().entries.map(({ file }) => file).filter((file) => file !== 'openapi.json');
    expect(
      files.filter((file) => !copied.some((path) => file === path || file.startsWith(`${path}/`))),
    ).toEqual([]);
  });

  it('has the operator commands on the PATH', () => {
    expect(last).toMatch(/^RUN ln -s \/app\/bin\/mcs-admin\.js \/usr\/local\/bin\/mcs-admin$/m);
    expect(last).toMatch(/^COPY bin \.\/bin$/m);
    expect(statSync(join(PROJECT, 'bin/mcs-admin.js')).mode & 0o111).toBe(0o111);
  });

  it('sets only known variables', () => {
    const names = [...dockerfile.matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) => namesOf(line));
    expect(names.length).toBeGreaterThan(0);
    expect(unknown(names)).toEqual([]);
  });

  describe('HEALTHCHECK', () => {
    let service: TestApp;
    beforeAll(async () => {
      service = await startTestApp();
    });
    afterAll(() => service.close());

    it('fails while the service is not ready', async () => {
      const [, json = '[]'] = /^HEALTHCHECK [^]*?CMD (\[.*\])$/m.exec(dockerfile) ?? [];
      const [program = '', ...values] = JSON.parse(json) as string[];
      const { port } = new URL(service.baseUrl);
      const check = (): Promise<number | null> =>
        new Promise((resolve) => {
          spawn(program, values, { env: { PATH: process.env.PATH, PORT: port } }).once('close', resolve);
        });
      expect(await check()).toBe(0);
      await service.database.cutOff();
      expect(await check()).toBe(1);
      await service.database.reconnect();
      await eventually('ready again', async () => (await check()) === 0);
    });
  });
});

describe('Git for Windows', () => {
  it.each(['deploy/create-database.sh', 'bin/mcs-admin.js', 'Dockerfile', 'examples/access-token.mjs'])(
    'checks out %s with the line ends that Linux reads',
    async (file) => {
      const { stdout } = await promisify(execFile)('git', ['check-attr', 'eol', '--', file], {
        cwd: PROJECT,
      });
      expect(stdout).toBe(`${file}: eol: lf\n`);
    },
  );
});

describe('compose.yaml', () => {
  const { services } = compose;
  const ours = Object.entries(services).filter(([, { image }]) => image === 'merchant-connectivity-service');
  const example = Object.fromEntries(
    [...read('deploy/.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const filled: Environment = {
    ...example,
    POSTGRES_PASSWORD: randomBytes(24).toString('hex'),
    OWNER_PASSWORD: randomBytes(24).toString('hex'),
    SERVICE_PASSWORD: randomBytes(24).toString('hex'),
    REDIS_PASSWORD: randomBytes(24).toString('hex'),
    SECRET_PEPPER: key(),
    KEY_ENCRYPTION_KEY: key(),
  };
  const fill = (environment: Environment = {}, values: Environment): Environment =>
    Object.fromEntries(
      Object.entries(environment).map(([name, text]) => [
        name,
        text.replaceAll(
          /\$\{(\w+):[?-][^}]*\}/g,
          (_all, variable: string) => values[variable] ?? '(missing)',
        ),
      ]),
    );

  it('limits memory and logs of all containers, and reads other settings from a file that git ignores', () => {
    for (const [name, { mem_limit: memory, logging }] of Object.entries(services))
      expect([name, memory, logging?.options]).toEqual([
        name,
        expect.stringMatching(/^\d+[mg]$/),
        { 'max-size': '20m', 'max-file': '5' },
      ]);
    const settings = 'deploy/settings.env';
    for (const [, { env_file: files }] of ours) expect(files).toEqual([{ path: settings, required: false }]);
    expect(read('.gitignore').split('\n')).toContain(settings);
  });

  it('starts PostgreSQL, Redis, one migration, two APIs and two workers', () => {
    expect(Object.keys(services)).toEqual([
      'postgres',
      'redis',
      'migrate',
      'api-1',
      'api-2',
      'worker-1',
      'worker-2',
    ]);
    expect(ours.map(([name, { command }]) => [name, programOf(command)])).toEqual([
      ['migrate', 'mcs-admin migrate'],
      ['api-1', ''],
      ['api-2', ''],
      ['worker-1', 'src/worker.ts'],
      ['worker-2', 'src/worker.ts'],
    ]);
    for (const [name, { depends_on: dependsOn }] of ours) {
      if (name === 'migrate') expect(dependsOn?.['postgres']?.condition).toBe('service_healthy');
      else expect(dependsOn?.['migrate']?.condition).toBe('service_completed_successfully');
    }
  });

  it.each(ours)('configures %s for production with known variables', async (name, { environment }) => {
    const given = fill(environment, filled);
    expect(unknown(Object.keys(given))).toEqual([]);
    expect(JSON.stringify(given)).not.toContain('(missing)');
    expect(await problemsOf(given)).toBe('');
    expect(given['MIGRATE_ON_START']).toBe('off');
    // Only the migration gets the role that owns the tables.
    expect('DATABASE_OWNER_URL' in given).toBe(name === 'migrate');
    expect(new URL(given['DATABASE_URL'] ?? '').username).toBe('service');
  });

  it('gives processes enough time to stop, and publishes ports only on 127.0.0.1', () => {
    for (const [name, { stop_grace_period: grace, read_only: readOnly, ports = [] }] of ours) {
      expect([
        name,
        Number.parseInt(grace ?? '0', 10) > MAX_DELAY_SECONDS + MAX_STOP_SECONDS,
        readOnly,
      ]).toEqual([name, true, true]);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
    for (const name of ['postgres', 'redis']) expect(services[name]?.ports).toBeUndefined();
  });

  it('mounts files that containers can read with SELinux', () => {
    const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    const files = mounts.filter((mount) => mount.startsWith('.'));
    expect(files).toEqual([expect.stringMatching(/:ro,z$/)]);
  });

  it('does not publish the metrics port', () => {
    for (const [name, { environment, ports = [] }] of ours) {
      expect([name, environment?.['METRICS_HOST']]).toEqual([name, '::']);
      expect(ports.filter((port) => port.endsWith(`:${environment?.['METRICS_PORT']}`))).toEqual([]);
    }
  });

  it('has an example of its settings without secrets, which does not start', async () => {
    const secrets = [
      'POSTGRES_PASSWORD',
      'OWNER_PASSWORD',
      'SERVICE_PASSWORD',
      'REDIS_PASSWORD',
      'SECRET_PEPPER',
      'KEY_ENCRYPTION_KEY',
      'SMTP_URL',
    ];
    for (const secret of secrets) expect([secret, example[secret]]).toEqual([secret, '']);
    expect(unknown(Object.keys(example))).toEqual([]);
    expect(await problemsOf(fill(services['api-1']?.environment, example))).toMatch(
      /SECRET_PEPPER is required/,
    );
    expect(read('.gitignore').split('\n')).toContain('deploy/.env');
  });
});

describe('deploy/chart', () => {
  const named = (kind: string, name: string): Manifest => {
    const found = manifests.find(
      (manifest) => manifest.kind === kind && manifest.metadata.name === `mcs-merchant-connectivity-${name}`,
    );
    if (!found) throw new Error(`There is no ${kind} ${name}`);
    return found;
  };
  const [api, worker] = [named('Deployment', 'api'), named('Deployment', 'worker')];
  const job = named('Job', 'migration');
  const containerOf = ({ spec }: Manifest): Container => spec.template.spec.containers[0] as Container;
  const settingsOf = (manifest: Manifest): Environment =>
    Object.fromEntries((containerOf(manifest).env ?? []).map(({ name, value }) => [name, value]));

  it('sets all variables of production except those of the secrets', async () => {
    const secrets = {
      DATABASE_URL: 'postgres://user:password@db.example.com/service?sslmode=verify-full',
      SECRET_PEPPER: key(),
      KEY_ENCRYPTION_KEY: key(),
      REDIS_URL: 'rediss://user:password@redis.example.com:6379/0',
      SMTP_URL: 'smtps://user:password@mail.example.com:465',
    };
    for (const manifest of [api, worker, job]) {
      const settings = settingsOf(manifest);
      expect(unknown(Object.keys(settings))).toEqual([]);
      expect(await problemsOf({ ...settings, ...secrets })).toBe('');
      expect(settings['MIGRATE_ON_START']).toBe('off');
    }
    expect(await problemsOf(settingsOf(api))).toMatch(/SECRET_PEPPER is required/);
  });

  it('refuses every setting that is a secret among those that are not', () => {
    interface Names {
      readonly anyOf?: readonly Names[];
      readonly $ref?: string;
      readonly pattern?: string;
      readonly enum?: readonly string[];
    }
    const schema = JSON.parse(read('deploy/chart/values.schema.json')) as {
      definitions: Record<string, Names>;
      properties: { settings: { propertyNames: { not: Names } } };
    };
    const isAmong = ({ anyOf = [], $ref = '', pattern, enum: names = [] }: Names, name: string): boolean => {
      const referred = schema.definitions[$ref.replace('#/definitions/', '')];
      return (
        [...anyOf, ...(referred ? [referred] : [])].some((each) => isAmong(each, name)) ||
        names.includes(name) ||
        (pattern !== undefined && new RegExp(pattern).test(name))
      );
    };
    const isRefused = (name: string): boolean => isAmong(schema.properties.settings.propertyNames.not, name);
    const secrets = configurationDefinitions()
      .flatMap(({ target }) => variablesOf(target))
      .filter(({ secret }) => secret)
      .map(({ name }) => name);
    expect(secrets).toContain('DATABASE_URL');
    expect(secrets.filter((name) => !isRefused(name))).toEqual([]);
    // Those of `extraEnv` need `valueFrom`.
    expect(secrets.filter((name) => !isAmong(schema.definitions['secretName']!, name))).toEqual([]);
    // The settings that the chart sets itself.
    const own = [api, worker].flatMap((manifest) => Object.keys(settingsOf(manifest)));
    expect(own.filter((name) => !isRefused(name) && name !== 'MAIL_FROM')).toEqual([]);
    expect(isRefused('LOG_LEVEL')).toBe(false);
  });

  it('gives the role that owns the tables only to the migration, which runs first', () => {
    const users = [api, worker, job].filter((manifest) =>
      JSON.stringify(containerOf(manifest)).includes('merchant-connectivity-migration'),
    );
    expect(users).toEqual([job]);
    expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
  });

  it('probes the API, and gives processes enough time to stop', () => {
    const container = containerOf(api);
    const paths = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
      (probe) => probe?.httpGet.path,
    );
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
    // A worker has no other port than that of the metrics.
    expect(containerOf(worker).livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'metrics' });
    expect(containerOf(worker).readinessProbe).toBeUndefined();
    // A busy process responds late. Only readiness may notice that soon.
    const { readinessProbe: ready } = container;
    for (const { livenessProbe: alive } of [container, containerOf(worker)]) {
      expect(Number(alive?.timeoutSeconds)).toBeGreaterThanOrEqual(10);
      expect(Number(alive?.periodSeconds) * Number(alive?.failureThreshold)).toBeGreaterThanOrEqual(60);
    }
    expect(Number(ready?.periodSeconds) * Number(ready?.failureThreshold)).toBeLessThanOrEqual(15);
    const wait = Number(container.lifecycle?.preStop.exec.command[1]);
    expect(api.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      wait + MAX_DELAY_SECONDS + MAX_STOP_SECONDS,
    );
    expect(worker.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(MAX_STOP_SECONDS);
    expect([api, worker, job].map((manifest) => programOf(containerOf(manifest).command))).toEqual([
      '',
      'src/worker.ts',
      'mcs-admin migrate',
    ]);
  });

  it('annotates the metrics port for Prometheus, and no Service exposes it', () => {
    for (const deployment of [api, worker]) {
      const { METRICS_PORT: port } = settingsOf(deployment);
      expect(deployment.spec.template.metadata?.annotations).toEqual({
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': port,
      });
      expect(containerOf(deployment).ports).toContainEqual({ name: 'metrics', containerPort: Number(port) });
    }
    expect(named('Service', 'api').spec.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
  });

  it('contains the alerts, so that its folder is complete', () => {
    expect(lstatSync(join(PROJECT, 'deploy/chart/files/alerts.yaml')).isFile()).toBe(true);
    expect(read('deploy/chart/files/alerts.yaml')).toBe(read('docs/monitoring/alerts.yaml'));
  });

  it('has an example for production with known settings', () => {
    const { settings } = parse(read('deploy/chart/ci/production-values.yaml')) as { settings: Environment };
    expect(unknown(Object.keys(settings)).filter((name) => name !== 'NODE_EXTRA_CA_CERTS')).toEqual([]);
  });

  it('has a page with every value that its schema accepts', async () => {
    const { readme, documentedValues, acceptedValues } = (await import(
      pathToFileURL(join(PROJECT, 'deploy/chart-readme.mjs')).href
    )) as {
      readme(): string;
      documentedValues(): string[];
      acceptedValues(): string[];
    };
    expect(documentedValues().toSorted()).toEqual(acceptedValues().toSorted());
    expect(read('deploy/chart/README.md')).toBe(readme());
    expect(readme()).toContain('| `api.autoscaling.minReplicas`');
    expect(readme()).not.toMatch(/^\| `[^|]+\|[^|]+\| +\|$/m);
  });

  it('names no template that another chart may have', () => {
    const folder = join(PROJECT, 'deploy/chart/templates');
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:yaml|tpl|txt)$/.test(file)) continue;
      const text = read(`deploy/chart/templates/${file}`);
      for (const [, name] of text.matchAll(/\b(?:define|include|template) "([^"]+)"/g))
        expect([file, name]).toEqual([file, expect.stringMatching(/^merchant-connectivity\./)]);
    }
  });

  it('is of the version of the service', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const chart = parse(read('deploy/chart/Chart.yaml')) as { version: string; appVersion: string };
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });
});

describe('deploy/systemd', () => {
  it('gives Node.js the options of `npm start`, as the image does', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const [, options = ''] = /^exec node (--expose-gc .*?) --import/.exec(scripts['start'] ?? '') ?? [];
    expect(options).not.toBe('');
    expect(scripts['start:worker']).toContain(`node ${options} --import`);
    for (const file of ['Dockerfile', 'deploy/systemd/merchant-connectivity@.service'])
      expect(/NODE_OPTIONS="?([^"]*)"/.exec(read(file))?.[1]).toBe(options);
  });

  it('starts the programs of the image, and gives the role that owns the tables only to the migration', () => {
    const [service, migration] = ['merchant-connectivity@', 'merchant-connectivity-migrate'].map((name) =>
      read(`deploy/systemd/${name}.service`),
    ) as [string, string];
    expect(service).toMatch(/^ExecStart=\/usr\/bin\/node dist\/src\/%i\.js$/m);
    expect(migration).toMatch(/^ExecStart=\/usr\/bin\/node bin\/mcs-admin\.js migrate$/m);
    expect(migration).toContain('migrate.env');
    expect(service).not.toContain('migrate.env');
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(service)?.[1])).toBeGreaterThan(
      MAX_DELAY_SECONDS + MAX_STOP_SECONDS,
    );
    // A process that is busy for a minute is not restarted, as in the chart.
    expect(Number(/^WatchdogSec=(\d+)$/m.exec(service)?.[1])).toBeGreaterThan(60);
    expect(service).toMatch(/^NotifyAccess=all$/m);
    const variables = [...`${service}${migration}`.matchAll(/^Environment=(.+)$/gm)].flatMap(
      ([, line = '']) => namesOf(line),
    );
    expect(unknown(variables)).toEqual([]);
  });
});

describe('deploy/systemd/mcs-admin', () => {
  it('runs commands as the units do, without the settings of one process', () => {
    const program = read('deploy/systemd/mcs-admin');
    const unit = read('deploy/systemd/merchant-connectivity@.service');
    for (const name of ['NODE_ENV', 'DATA_DIR', 'MIGRATE_ON_START'])
      expect(program).toContain(`--setenv=${new RegExp(`${name}=\\S+`).exec(unit)?.[0]}`);
    for (const setting of ['User', 'EnvironmentFile', 'LimitCORE', 'UMask']) {
      const [, value = ''] = new RegExp(`^${setting}=(\\S+)$`, 'm').exec(unit) ?? [];
      expect(program).toMatch(new RegExp(`--(?:uid|property=${setting})=${value}\\b`));
    }
    expect(program).toContain('bin/mcs-admin.js "$@"');
  });

  it.each([
    ['doctor', false],
    ['migrate', true],
    ['database distribute', true],
  ])('gives the URL of the owner only to what changes the schema: %s', (command, hasOwner) => {
    const programs = mkdtempSync(join(tmpdir(), 'mcs-admin-'));
    for (const [name, script] of [
      ['id', 'echo 0'],
      ['systemd-run', `printf '%s\\n' "$@"`],
    ] as const)
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const output = execFileSync(join(PROJECT, 'deploy/systemd/mcs-admin'), command.split(' '), {
      encoding: 'utf8',
      env: { PATH: `${programs}:${process.env.PATH}`, owner: 'of the shell' },
    });
    rmSync(programs, { recursive: true });
    const [, ...files] = output.split('--property=EnvironmentFile=').map((text) => text.split('\n')[0]);
    const owner = hasOwner ? ['-/etc/merchant-connectivity/migrate.env'] : [];
    expect(files).toEqual(['/etc/merchant-connectivity/service.env', ...owner]);
    expect(output).not.toContain('of the shell');
  });
});

describe('The reverse proxies of docs/hosts.md', () => {
  const [nginx = '', caddy = ''] = ['nginx', 'Caddy'].map(
    (name) =>
      new RegExp(`^### ${name}\\n[^]*?\`\`\`text\\n([^]*?)\`\`\``, 'm').exec(read('docs/hosts.md'))?.[1],
  );

  it('accept every body that the service accepts', () => {
    const limits = [...read('openapi.json').matchAll(/at most (\d+) MiB|\((\d+) MiB for a batch/g)];
    const largest = Math.max(
      ...limits.map(([, one, other]) => Number(one ?? other)),
      MAX_BATCH_BYTES / 2 ** 20,
    );
    expect(Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1])).toBeGreaterThan(largest);
    expect(Number(/max_size (\d+)MiB/.exec(caddy)?.[1])).toBeGreaterThan(largest);
  });

  itWithNginx('run with nginx, which responds as the service does to what it refuses itself', async () => {
    const service = await startTestApp(BEHIND_PROXY);
    try {
      await using proxy = await startNginx(nginx, service.baseUrl);
      const post = async (bytes: number): Promise<unknown> => {
        const sent = request(`${proxy.url}/apply`, {
          method: 'POST',
          rejectUnauthorized: false,
          headers: { 'content-type': 'application/json' },
        });
        // nginx closes the connection without receiving the rest.
        sent.on('error', () => undefined).end('a'.repeat(bytes));
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        const { error_code, error_message } = JSON.parse((await response.toArray()).join('')) as Record<
          string,
          string
        >;
        return [
          response.statusCode,
          response.headers['content-type']?.split(';')[0],
          error_code,
          error_message,
        ];
      };
      expect(await post(10)).toEqual([400, 'application/json', 'INVALID_FIELD', expect.anything()]);
      for (const [bytes, message] of [
        [600_000, 'The request body must not be larger than 262144 bytes.'],
        [4_500_000, 'The request body must not be larger than 262144 bytes.'],
        [6_000_000, 'The request body must not be larger than 5 MiB, whatever the operation.'],
      ] as const)
        expect(await post(bytes)).toEqual([413, 'application/json', 'PAYLOAD_TOO_LARGE', message]);
    } finally {
      await service.close();
    }
  });

  it('log no tokens of links', () => {
    const [, variables = ''] = /log_format without_tokens '([^']*)'/.exec(nginx) ?? [];
    expect(variables).toContain('$logged_path');
    expect(variables).not.toMatch(/\$(?:request|request_uri|uri|args|query_string|http_referer)\b/);
    expect(nginx).toMatch(/access_log \S+ without_tokens;/);
    expect(nginx).toMatch(/~\^\/sign-in\/ \/sign-in\/\*\*\*;/);
    expect(nginx).toMatch(/location ~ \^\/\(\?:sign-in\|password-reset\)\/ \{[^}]*error_log \S+ crit;/);
    expect(caddy).toMatch(/request>uri regexp/);
  });
});
