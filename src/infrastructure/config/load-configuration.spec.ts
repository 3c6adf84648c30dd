/**
 * Compares built-in classes, of which the bundle has others.
 *
 * @jest-environment-options {"usesBundle": false}
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IsInt, IsOptional, Matches, Max } from 'class-validator';
import { Configuration, EnvironmentVariable, variablesOf } from './environment-variable.js';
import { ConfigurationError, loadConfiguration } from './load-configuration.js';
import { misspelledVariables } from './misspelled-variables.js';
import { ServiceConfiguration } from './service.configuration.js';

@Configuration('Trial')
class TrialConfiguration {
  @EnvironmentVariable('TRIAL_TEXT', 'A text.')
  text: string = 'as it is';

  @EnvironmentVariable('TRIAL_COUNT', 'A number.')
  @IsInt()
  @Max(10)
  count: number = 3;

  @EnvironmentVariable('TRIAL_PORT', 'A port.')
  port: number = 5;

  @EnvironmentVariable('TRIAL_SWITCH', 'A switch.')
  switch: boolean = false;

  @EnvironmentVariable('TRIAL_LIST', 'A list.')
  list: string[] = ['a', 'b'];

  @EnvironmentVariable('TRIAL_SECRET', 'A secret.', { secret: true })
  @IsOptional()
  @Matches(/^[a-z]{8}$/)
  secret?: string;
}

const load = (environment: Record<string, string>): TrialConfiguration =>
  loadConfiguration(environment).get(TrialConfiguration);

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    load(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('Configuration', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'configuration-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  it('has a default for everything', () => {
    expect({ ...load({}) }).toEqual({ text: 'as it is', count: 3, port: 5, switch: false, list: ['a', 'b'] });
    expect(loadConfiguration({}).get(ServiceConfiguration)).toMatchObject({
      nodeEnvironment: 'development',
      isProduction: false,
      servedSurfaces: ['platform', 'connector', 'dashboard', 'careers', 'internal'],
      backgroundWork: true,
      dataDirectory: '.data',
    });
  });

  it.each(['Production', 'prod', 'staging', ' production'])('refuses NODE_ENV=%s', (value) => {
    expect(() => loadConfiguration({ NODE_ENV: value, WEBHOOK_TARGETS: 'any' })).toThrow(
      'NODE_ENV must be one of the following values: development, test, production.',
    );
  });

  it('returns the public URLs in their usual spelling', () => {
    const service = loadConfiguration({ DASHBOARD_URL: 'https://Dashboard.Example.com:443/' }).get(
      ServiceConfiguration,
    );
    expect(service.publicUrlOf('dashboard')).toBe('https://dashboard.example.com');
  });

  it('serves the internal API in production only if SURFACES names it', () => {
    const served = (environment: Record<string, string>) =>
      loadConfiguration({ NODE_ENV: 'production', ...environment }).get(ServiceConfiguration).servedSurfaces;
    expect(served({})).toEqual(['platform', 'connector', 'dashboard', 'careers']);
    expect(served({ SURFACES: 'internal' })).toEqual(['internal']);
  });

  it('treats an empty variable as not set', () => {
    expect(
      load({ TRIAL_TEXT: '', TRIAL_COUNT: '', TRIAL_SWITCH: '', TRIAL_LIST: '', TRIAL_SECRET_FILE: '' }),
    ).toEqual(new TrialConfiguration());
  });

  it.each([
    ['TRIAL_TEXT', '5', { text: '5' }],
    ['TRIAL_TEXT', ' spaces ', { text: ' spaces ' }],
    [
      'TRIAL_TEXT',
      String.raw`-----BEGIN X-----\nAAAA\r\n-----END X-----\n`,
      { text: '-----BEGIN X-----\nAAAA\n-----END X-----' },
    ],
    ['TRIAL_TEXT', String.raw`C:\new`, { text: String.raw`C:\new` }],
    ['TRIAL_COUNT', '10', { count: 10 }],
    ['TRIAL_COUNT', '-7', { count: -7 }],
    ['TRIAL_COUNT', '0', { count: 0 }],
    ['TRIAL_SWITCH', 'on', { switch: true }],
    ['TRIAL_SWITCH', 'TRUE', { switch: true }],
    ['TRIAL_SWITCH', 'yes', { switch: true }],
    ['TRIAL_SWITCH', '1', { switch: true }],
    ['TRIAL_SWITCH', 'off', { switch: false }],
    ['TRIAL_SWITCH', 'False', { switch: false }],
    ['TRIAL_SWITCH', 'no', { switch: false }],
    ['TRIAL_SWITCH', '0', { switch: false }],
    ['TRIAL_LIST', 'one', { list: ['one'] }],
    ['TRIAL_LIST', 'one, two ,three', { list: ['one', 'two', 'three'] }],
    ['TRIAL_SECRET', 'abcdefgh', { secret: 'abcdefgh' }],
  ])('reads %s=%s', (name, value, expected) => {
    expect(load({ [name]: value })).toMatchObject(expected);
  });

  it.each([
    ['TRIAL_COUNT', 'ten', 'TRIAL_COUNT must be a number.'],
    ['TRIAL_COUNT', '0x10', 'TRIAL_COUNT must be a number.'],
    ['TRIAL_COUNT', ' 1', 'TRIAL_COUNT must be a number.'],
    ['TRIAL_COUNT', '1e2', 'TRIAL_COUNT must be a number.'],
    ['TRIAL_COUNT', 'NaN', 'TRIAL_COUNT must be a number.'],
    ['TRIAL_COUNT', '1.5', 'TRIAL_COUNT must be an integer number.'],
    ['TRIAL_COUNT', '11', 'TRIAL_COUNT must not be greater than 10.'],
    ['TRIAL_SWITCH', 'maybe', 'TRIAL_SWITCH must be on or off (or true or false, yes or no, 1 or 0).'],
    [
      'PIN_ENVIRONMENT',
      'staging',
      'PIN_ENVIRONMENT must be one of the following values: development, production.',
    ],
    [
      'SURFACES',
      'platform,kitchen',
      'SURFACES must be a list of platform, connector, dashboard, careers and internal.',
    ],
    ...[
      'ftp://example.com',
      'api.example.com',
      'localhost:3000',
      'https://example.com/api',
      'https:///example.com',
      'https://user@example.com',
      'https://example.com/?a=b',
      'https://example.com/#a',
    ].map((value) => [
      'PLATFORM_URL',
      value,
      'PLATFORM_URL must be a URL without a path, such as https://api.example.com.',
    ]),
    ...['CONNECTOR_URL', 'DASHBOARD_URL', 'CAREERS_URL', 'INTERNAL_URL'].map((name) => [
      name,
      'https://example.com/path/',
      expect.stringMatching(
        `^${name} must be a URL without a path, such as https?://[a-z]+\\.example\\.com\\.$`,
      ),
    ]),
  ])('rejects %s=%s', (name, value, problem) => {
    expect(problemsOf({ [name]: value })).toEqual([problem]);
  });

  it.each([
    ['TRIAL_COUNT', '7\r', { count: 7 }],
    ['TRIAL_SECRET', 'abcdefgh\n', { secret: 'abcdefgh' }],
    ['TRIAL_TEXT', '\r\n', { text: 'as it is' }],
    ['TRIAL_LIST', 'one,two,', { list: ['one', 'two'] }],
  ])('reads %s=%j without what files and scripts leave at its end', (name, value, expected) => {
    expect(load({ [name]: value })).toMatchObject(expected);
  });

  it('ignores the address that Kubernetes sets for a Service with the name of a setting', () => {
    expect(load({ TRIAL_PORT: 'tcp://10.96.0.1:9090' }).port).toBe(5);
    expect(problemsOf({ TRIAL_PORT: '10.96.0.1:9090' })).toEqual(['TRIAL_PORT must be a number.']);
  });

  it('says that a value that cannot be read is in quotation marks', () => {
    const sentence = 'The value is in quotation marks, which are part of it: remove them.';
    expect(problemsOf({ TRIAL_COUNT: '"7"', PLATFORM_URL: "'https://api.example.com'" })).toEqual([
      `PLATFORM_URL must be a URL without a path, such as https://api.example.com. ${sentence}`,
      `TRIAL_COUNT must be a number. ${sentence}`,
    ]);
    expect(load({ TRIAL_TEXT: '"7"' }).text).toBe('"7"');
  });

  it('reads a variable from a file, without a trailing newline', () => {
    expect(load({ TRIAL_SECRET_FILE: file('secret', 'abcdefgh\n') }).secret).toBe('abcdefgh');
    expect(load({ TRIAL_COUNT_FILE: file('count', '7\r\n') }).count).toBe(7);
    expect(load({ TRIAL_COUNT_FILE: file('marked', '\uFEFF7\n') }).count).toBe(7);
  });

  it('rejects a file that cannot be read', () => {
    expect(problemsOf({ TRIAL_SECRET_FILE: join(folder, 'absent') })).toEqual([
      `TRIAL_SECRET_FILE names ${join(folder, 'absent')}, which cannot be read (ENOENT).`,
    ]);
    expect(problemsOf({ TRIAL_SECRET_FILE: folder })).toEqual([
      `TRIAL_SECRET_FILE names ${folder}, which cannot be read (EISDIR).`,
    ]);
  });

  it('rejects an empty file', () => {
    expect(problemsOf({ TRIAL_SECRET_FILE: file('empty', '\n') })).toEqual([
      `TRIAL_SECRET_FILE names ${join(folder, 'empty')}, which is empty.`,
    ]);
  });

  it('reports only the file that cannot be read, not what follows from it', () => {
    const file = join(folder, 'absent');
    const further = () => [
      'TRIAL_SECRET is required in production.',
      'TRIAL_COUNT is required in production.',
    ];
    expect(() => loadConfiguration({ TRIAL_SECRET_FILE: file }, further)).toThrow(
      `The configuration is not usable:\n  - TRIAL_SECRET_FILE names ${file}, which cannot be read (ENOENT).\n  - TRIAL_COUNT is required in production.`,
    );
  });

  it('rejects a variable that is set twice', () => {
    expect(problemsOf({ TRIAL_SECRET: 'abcdefgh', TRIAL_SECRET_FILE: file('twice', 'abcdefgh') })).toEqual([
      'TRIAL_SECRET and TRIAL_SECRET_FILE are both set; keep one of them.',
    ]);
  });

  it('reports all problems at once, each once', () => {
    const environment = {
      TRIAL_COUNT: 'many',
      TRIAL_SWITCH: 'maybe',
      TRIAL_SECRET: 'short',
      PIN_ENVIRONMENT: 'staging',
    };
    const problems = problemsOf(environment);
    expect(problems).toHaveLength(4);
    for (const name of Object.keys(environment)) {
      expect(problems.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1);
    }
    expect(() => load(environment)).toThrow(
      /^The configuration is not usable:\n( {2}- [A-Z_]+ must [^\n]+\.\n?){4}$/,
    );
  });

  it('never quotes a secret', () => {
    const secret = 'hunter2-hunter2';
    for (const environment of [
      { TRIAL_SECRET: secret },
      { TRIAL_SECRET_FILE: file('secret-with-problem', secret) },
    ] as Record<string, string>[]) {
      expect(problemsOf(environment)).toHaveLength(1);
      expect(problemsOf(environment).join()).not.toContain(secret);
    }
  });

  it('describes each variable', () => {
    expect(variablesOf(TrialConfiguration)).toContainEqual({
      name: 'TRIAL_SECRET',
      property: 'secret',
      description: 'A secret.',
      secret: true,
    });
  });
});

describe('misspelledVariables', () => {
  it.each([
    ['PLATFROM_URL', 'PLATFORM_URL'],
    ['DASHBORD_URL', 'DASHBOARD_URL'],
    ['BACKGROUNDWORK', 'BACKGROUND_WORK'],
    ['BACKGROUND_WORKS', 'BACKGROUND_WORK'],
    ['DATADIR', 'DATA_DIR'],
    ['data_dir', 'DATA_DIR'],
    ['PLATFORM-URL', 'PLATFORM_URL'],
    ['TRIAL_SECRET_FILES', 'TRIAL_SECRET_FILE'],
    ['DASHBOARD_UR_FIEL', 'DASHBOARD_URL_FILE'],
    ['PIN_ENVIROMENT', 'PIN_ENVIRONMENT'],
  ])('names the setting nearest to %s', (name, nearest) => {
    expect(misspelledVariables({ [name]: 'x' })).toEqual([
      `The environment variable ${name} is not a setting of this service. Did you mean ${nearest}?`,
    ]);
  });

  it('ignores settings, empty variables and those of other programs', () => {
    const others = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'SHELL',
      'LOGNAME',
      'NODE_OPTIONS',
      'NODE_VERSION',
      'npm_config_cache',
    ];
    const environment = Object.fromEntries(
      [...others, 'PLATFORM_URL', 'DATA_DIR_FILE'].map((name) => [name, 'x']),
    );
    expect(misspelledVariables({ ...environment, DATADIR: '', PLATFORM: 'x', LC_ALL: 'C' })).toEqual([]);
  });
});
