/** Statements of the pages about sets and sizes, compared with what they are about. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { listPermissions } from '../../src/infrastructure/auth/index.js';
import { configurationDefinitions, variablesOf } from '../../src/infrastructure/config/index.js';
import { BYTES_PER_ROW, sizingOf } from '../../src/cli/sizing.js';
import { committed } from '../support/documents/documents.js';
import '../../src/app.module.js';

interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly $ref?: string }[];
}
const { paths } = JSON.parse(committed('openapi.json')) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { operationId }]) => operationId !== undefined)
    .map(([method, operation]) => ({ ...operation, name: `${method.toUpperCase()} ${path}` })),
);

/** Returns the part of a page below a heading, up to the next heading of the same level. */
function section(page: string, heading: string): string {
  const [, text] = committed(page).split(`\n${heading}\n`);
  if (text === undefined) throw new Error(`${page} has no heading "${heading}"`);
  return text.split(new RegExp(`^#{1,${heading.indexOf(' ')}} `, 'm'))[0] ?? '';
}

/** Returns the cells of the rows of all tables, without the headings. */
function rowsIn(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.trim().startsWith('|'));
  return lines
    .filter((_line, index) => !lines[index + 1]?.includes('---') && !lines[index]?.includes('---'))
    .map((line) =>
      line
        .trim()
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

/** Returns the paths of the files of `src` whose names end like this. */
function sourceFiles(ending: string): string[] {
  return readdirSync(join(import.meta.dirname, '../../src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `src/${file}`);
}

/** Returns the value of a constant that a module does not export. */
function constant(file: string, name: string): number {
  const [, value] = new RegExp(`const ${name} = ([\\d_]+);`).exec(committed(`src/modules/${file}`)) ?? [];
  return Number(value?.replaceAll('_', ''));
}

const inWords = (value: number): string => value.toLocaleString('en-US');

describe('The pages for operators', () => {
  it('name only metrics that exist', () => {
    const exists = new Set(committed('docs/metrics.md').match(/\b(?:mcs|nodejs|process)_\w+/g));
    const pages = readdirSync(join(import.meta.dirname, '../../docs')).filter((file) => file.endsWith('.md'));
    const unknown = pages.flatMap((page) =>
      [...committed(`docs/${page}`).matchAll(/`(mcs_(?!dev_|live_)\w+_\w+)/g)]
        .map(([, name = '']) => name.replace(/_(?:bucket|count|sum)$/, ''))
        .filter((name) => !exists.has(name))
        .map((name) => `${page}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('docs/operations-commands.md', () => {
  it('names the checks of doctor', () => {
    const source = committed('src/cli/commands/doctor.command.ts');
    const checks = [...source.matchAll(/this\.(?:add|examine)\(\s*['`]([^'`$]+)/g)].map(([, name = '']) =>
      name.trim(),
    );
    const [, sentence = ''] =
      /has these checks: ([^.]+)\./.exec(committed('docs/operations-commands.md')) ?? [];
    const named = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name]) => name?.replaceAll(/\s+/g, ' '));
    expect(named.toSorted()).toEqual([...new Set(checks)].toSorted());
  });
});

describe('docs/operations-data.md', () => {
  it('says how long the rows of each table are kept that the code deletes', () => {
    const tables = sourceFiles('.entity.ts').flatMap((file) =>
      committed(file)
        .split('@Entity(')
        .filter((entity) => entity.includes('@DeleteAfter('))
        .map((entity) => /name: '(\w+)'/.exec(entity)?.[1]),
    );
    const rows = rowsIn(section('docs/operations-data.md', '## Data retention'));
    const named = rows.flatMap(([, , cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(tables.length).toBeGreaterThan(20);
    expect(tables.filter((table) => !named.includes(table))).toEqual([]);
    const schema = committed('docs/schema.sql');
    expect(named.filter((name) => !schema.includes(` TABLE ${name} (`))).toEqual([]);
  });
});

describe('docs/operations-logins.md', () => {
  const rows = rowsIn(section('docs/operations-logins.md', '## Limits'));
  const labels = rows.map(([, , , label = '']) => label.replaceAll('`', ''));

  it('lists the limits on attempts of people', () => {
    const others = ['sign-in-links', 'sign-in-links-of-client', 'refused-attempts'];
    const limits = sourceFiles('.ts').flatMap((file) =>
      [...committed(file).matchAll(/\.limit\('([\w-]+)'/g)].map(([, name = '']) => name),
    );
    expect(limits.length).toBeGreaterThan(20);
    expect([...labels, ...others].toSorted()).toEqual(limits.toSorted());
  });

  it('has every limit on guesses that an alert watches', () => {
    const alerts = committed('docs/monitoring/alerts.yaml').split('- alert: GuessingAttempts')[1] ?? '';
    const [, watched = ''] = /limit=~"([^"]+)"/.exec(alerts) ?? [];
    const alert = new RegExp(`^(?:${watched})$`);
    // Links and messages, and the beginnings of logins.
    const noGuess = /^(?:invitation-.+|passkey-.+|reset-.+|sso-begin)$/;
    expect(labels.filter((label) => !noGuess.test(label))).toEqual(
      labels.filter((label) => alert.test(label)),
    );
  });
});

describe('docs/dashboard-api.md', () => {
  it('lists all operations for access tokens, with their role, scope and audit action', () => {
    const permissions = new Map<string, object>(listPermissions().map((each) => [each.name, each]));
    const expected = operations
      .filter(({ security = [] }) => security.some((each) => 'session' in each))
      .map(({ name, operationId }) => {
        const { role = 'viewer', token, action } = permissions.get(operationId) as Record<string, string>;
        return [name, role, token, action ?? ''].join(' | ');
      });
    const listed = rowsIn(section('docs/dashboard-api.md', '## Operations for programs')).map(
      ([name, , ...rest]) => [name, ...rest].join(' | ').replaceAll('`', ''),
    );
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  it('states the limits of an organization', () => {
    const page = committed('docs/dashboard-api.md').replaceAll(/\s+/g, ' ');
    for (const [what, file, name] of [
      ['users', 'dashboard-users/users/user-administration.service.ts', 'MAX_USERS'],
      ['allowlisted domains', 'allowlisted-domains/allowlisted-domains.service.ts', 'MAX_DOMAINS'],
      [
        'single sign-on configurations',
        'single-sign-on/configurations/sso-configurations.service.ts',
        'MAX_CONFIGURATIONS',
      ],
      ['webhook endpoints per environment', 'webhook-endpoints/webhook-endpoint.entity.ts', 'MAX_ENDPOINTS'],
      ['merchants', 'merchants/merchants.dto.ts', 'MAX_MERCHANTS'],
    ] as const)
      expect(page).toContain(`${inWords(constant(file, name))} ${what}`);
    const passkeys = constant('dashboard-login/passkeys/passkeys.service.ts', 'MAX_PASSKEYS');
    expect(page).toContain(`of their account, at most ${passkeys}.`);
  });
});

describe('docs/retrying.md', () => {
  it('lists the operations that accept the header Idempotency-Key', () => {
    const accepting = operations.filter(({ parameters = [] }) =>
      parameters.some(({ $ref = '' }) => /idempotency/i.test($ref)),
    );
    const text = section('docs/retrying.md', '## Idempotency keys');
    const rows = text.split('\n').filter((line) => line.startsWith('|'));
    const named = rows.flatMap((row) => [...row.matchAll(/`([A-Z]+ \/[^`]+)`/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual(accepting.map(({ name }) => name).toSorted());
  });
});

describe('docs/architecture-flows.md', () => {
  it('names the implementations of ports that src/ports.module.ts binds', () => {
    const page = committed('docs/architecture-flows.md').replaceAll(/\s+/g, ' ');
    const bindings = committed('src/ports.module.ts').matchAll(/provide: (\w+), useExisting: (\w+)/g);
    const bound = new Map([...bindings].map(([, port, implementation]) => [port, implementation]));
    const named = [...page.matchAll(/`(src\/[\w./-]+)` implements the port `(\w+)`/g)];
    expect(named.length).toBe(page.match(/\bport `/g)?.length);
    for (const [, file = '', port] of named)
      expect([file, port, /export class (\w+)/.exec(committed(file))?.[1]]).toEqual([
        file,
        port,
        bound.get(port),
      ]);
  });
});

describe('docs/typescript.md', () => {
  it('names all options of the client, with their defaults', () => {
    const source = committed('clients/typescript/src/transport.ts');
    const [, declared = ''] = /interface ClientOptions \{([^]*?)\n\}/.exec(source) ?? [];
    const names = [...declared.matchAll(/readonly (\w+)\??:/g)].map(([, name = '']) => name);
    const page = section('docs/typescript.md', '## Make requests');
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    const defaults = [...declared.matchAll(/Default: (\d+)\./g)].map(([, value]) => Number(value));
    for (const value of defaults) expect(page).toContain(`(${inWords(value)})`);
  });
});

describe('docs/generated-clients.md', () => {
  it('names the versions that the tests use', () => {
    const { dependencies } = JSON.parse(committed('test/tools/package.json')) as {
      dependencies: Record<string, string>;
    };
    const rows = rowsIn(section('docs/generated-clients.md', '## Which generators were run'));
    const tested = rows.filter(([, , , , when]) => when === 'with every change');
    expect(tested.length).toBe(3);
    for (const [name = '', version] of tested) expect([name, version]).toEqual([name, dependencies[name]]);
  });
});

describe('The sizes of rows', () => {
  const { request, attempt, event, token } = BYTES_PER_ROW;

  it.each(['docs/hosts.md', 'docs/scaling.md'])('in %s are those that the tests measure', (page) => {
    const rows = rowsIn(committed(page));
    for (const [what, bytes] of [
      [/API requests?$/, request],
      [/delivery attempts?$/, attempt],
      [/^(?:webhook events|event with)/, event],
      [/^MCP tokens?$/, token],
    ] as const) {
      const row = rows.find(([name = '', size = '']) => what.test(name) && size.includes('bytes'));
      expect([page, what.source, row?.[1]]).toEqual([
        page,
        what.source,
        expect.stringContaining(`${inWords(bytes)} bytes`),
      ]);
    }
  });

  it('in the example of docs/hosts.md result in its total', () => {
    const load = { requests: 10, deliveryAttempts: 10, tokens: 0, tokenDays: 0, retentionDays: 30, peak: 1 };
    const { request_log: log, events_gb: events } = sizingOf(load);
    const entries = (log.entries_per_day / 1e6).toFixed(1);
    const total = Math.round(log.gb + events);
    expect(committed('docs/hosts.md').replaceAll(/\s+/g, ' ')).toContain(
      `10 requests per second with one webhook each are ${entries} million log entries a day: with the events, ${(total / 30).toFixed(1)} GB a day, ${total} GB in 30 days.`,
    );
  });

  it('and the resources of pods in docs/scaling.md are those of the chart', () => {
    interface Resources {
      readonly requests: { readonly cpu: string; readonly memory: string };
      readonly limits: { readonly memory: string };
    }
    const values = parse(committed('deploy/chart/values.yaml')) as Record<string, { resources: Resources }>;
    const chart = ['api', 'worker', 'migration'].map((name) => {
      const { requests, limits } = values[name]!.resources;
      return [requests.cpu, requests.memory, limits.memory];
    });
    const page = rowsIn(section('docs/scaling.md', '### Pods and containers'));
    expect(page.map(([, ...cells]) => cells)).toEqual(chart);
  });
});

describe('docs/network.md', () => {
  const page = committed('docs/network.md');
  const variables = configurationDefinitions().flatMap(({ target }) =>
    variablesOf(target).map(({ name }) => name),
  );

  it('names every setting with an address', () => {
    const addresses = variables.filter((name) =>
      /(?:_URL|_ENDPOINT|EGRESS_ADDRESS|_SERVERS|PORT|HOST|_TARGETS)$/.test(name),
    );
    expect(addresses).toEqual(expect.arrayContaining(['DATABASE_URL', 'SMTP_URL', 'PORT', 'METRICS_PORT']));
    // They are links, to which nothing connects.
    const links = ['SUPPORT_URL', 'TERMS_URL'];
    expect(addresses.filter((name) => !links.includes(name) && !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('names only settings that exist', () => {
    const named = [...page.matchAll(/`([A-Z][A-Z_]+)(?:=\w+)?`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !variables.includes(name))).toEqual([]);
  });
});

describe('docs/operations-logins.md', () => {
  it('states how long logins, invitations and links last', () => {
    const page = committed('docs/operations-logins.md').replaceAll(/\s+/g, ' ');
    const source = (file: string): string => committed(`src/modules/${file}`);
    const [, hours] =
      /complete: (\d+) \* HOUR/.exec(source('dashboard-login/sessions/dashboard-sessions.service.ts')) ?? [];
    const [, days] =
      /INVITATION_LIFETIME = (\d+) \* DAY/.exec(source('dashboard-users/users/dashboard-user.entity.ts')) ??
      [];
    const [, minutes] =
      /RESET_LIFETIME = (\d+) \* MINUTE/.exec(source('dashboard-login/passwords/password-link.entity.ts')) ??
      [];
    expect(page).toContain(`A login lasts ${hours} hours`);
    expect(page).toContain(`An invitation lasts ${days} days, and a password reset link ${minutes} minutes.`);
    expect(page).toContain(`has generated expires after ${days} days`);
  });
});

describe('docs/operations-commands.md', () => {
  it('lists every operator command', async () => {
    const { COMMANDS } = await import('../../src/cli/operator-command.js');
    const listed = rowsIn(committed('docs/operations-commands.md')).flatMap(([cell = '']) =>
      [...cell.matchAll(/`([a-z-]+)/g)].map(([, name = '']) => name),
    );
    expect([...new Set(listed)].toSorted()).toEqual(Object.keys(COMMANDS).toSorted());
  });
});

describe('Every page and message', () => {
  it('names operator commands by the program that is in the image, on hosts and in checkouts', async () => {
    const { readdirSync } = await import('node:fs');
    const files = ['README.md', 'compose.yaml', 'Dockerfile'].concat(
      ['docs', 'src', 'deploy', 'examples'].flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((file) => /\.(?:md|tsx?|ya?ml|txt|service)$/.test(file))
          .map((file) => `${folder}/${file}`),
      ),
    );
    expect(files.filter((file) => /npm run (?:--silent )?cli|dist\/src\/cli/.test(committed(file)))).toEqual(
      [],
    );
  });

  it('puts no secret into an argument', async () => {
    const { readdirSync } = await import('node:fs');
    const pages = readdirSync('docs').filter((file) =>
      /^(?:deployment|kubernetes|database|tls|hosts|backup|operations.*|key-rotation|runbooks|distributed-log|upgrades)\.md$/.test(
        file,
      ),
    );
    expect(pages.length).toBeGreaterThan(15);
    const secret =
      /--from-literal|--requirepass|--secret[ =]|--password[ =]|PASSWORD=\S+ \S*\.sh|pg_(?:dump|restore)[^\n]*_URL|psql[^\n]*_URL|owner_password=/;
    for (const file of [...pages.map((page) => `docs/${page}`), 'compose.yaml', 'deploy/create-database.sh'])
      expect([file, secret.exec(committed(file))?.[0]]).toEqual([file, undefined]);
  });
});
