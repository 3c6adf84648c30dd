/** Native ES modules, compiled file by file with swc as the build does (.swcrc); see docs/decisions/0004-tests.md. */
const shared = {
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: { '^.+\\.tsx?$': '@swc/jest' },
  moduleNameMapper: {
    // Source files import each other as `.js`, which is the extension of the compiled file.
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@merchant-connectivity/sdk$': '<rootDir>/clients/typescript/src/index.ts',
    // @nestjs/swagger imports this library from 428 files, which is a fifth of all files that a test of the API loads.
    '^es-toolkit/compat$': '<rootDir>/node_modules/es-toolkit/dist/browser.global.js',
    // The ES module build imports JSON in a way that Jest warns about at every start.
    '^libphonenumber-js/max$': '<rootDir>/node_modules/libphonenumber-js/max/index.cjs',
  },
  testEnvironment: '<rootDir>/test/support/runner/test-environment.mjs',
  resolver: '<rootDir>/test/support/runner/bundle/resolver.cjs',
  setupFiles: ['<rootDir>/test/support/runner/provide-nest-to-commonjs.ts'],
};

/** If tests of the service run, too, these use their bundle: loading Nest for each file takes most of the time of a unit test. */
const withoutDatabase = { ...shared, testEnvironmentOptions: { usesBundle: true } };

/** For tests of the running service. Their setup builds it as a bundle, which all tests of the run use, and starts one PostgreSQL server. */
const service = {
  ...shared,
  testEnvironmentOptions: { usesBundle: true, testsService: true },
  setupFiles: [],
  globalSetup: '<rootDir>/test/support/runner/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/runner/global-teardown.mjs',
};

export default {
  projects: [
    { ...withoutDatabase, displayName: 'unit', roots: ['<rootDir>/src', '<rootDir>/clients'] },
    { ...withoutDatabase, displayName: 'architecture', roots: ['<rootDir>/test/architecture'] },
    { ...service, displayName: 'e2e', roots: ['<rootDir>/test/e2e'] },
    { ...service, displayName: 'programs', roots: ['<rootDir>/test/programs'] },
    { ...service, displayName: 'browser', roots: ['<rootDir>/test/browser'] },
  ],
  // Each failure is printed once, at the end of its file.
  reporters: [
    ['default', { summaryThreshold: Infinity }],
    '<rootDir>/test/support/runner/whole-run.reporter.mjs',
  ],
  testSequencer: '<rootDir>/test/support/runner/slow-first.sequencer.mjs',
  maxWorkers: 3,
  // With ES modules, Node.js keeps the context of each test file in memory (nodejs/node#59118).
  workerIdleMemoryLimit: '1GB',
  testTimeout: 20_000,
};
