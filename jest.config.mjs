/** In `.tsx` alone, because there `<T>(value: T) => …` is read as an element. */
const compiled = (tsx) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true, tsx },
      transform: {
        legacyDecorator: true,
        decoratorMetadata: true,
        useDefineForClassFields: false,
        react: { runtime: 'automatic', importSource: 'preact' },
      },
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];

/** Native ES modules, compiled file by file with swc; see docs/decisions/0004-tests.md. */
export default {
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: { '^.+\\.ts$': compiled(false), '^.+\\.tsx$': compiled(true) },
  // Sources import each other as `.js`, which is what they are compiled to.
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Its ES modules import JSON in a way that Jest warns about at every start.
    '^libphonenumber-js/max$': '<rootDir>/node_modules/libphonenumber-js/max/index.cjs',
  },
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  resolver: '<rootDir>/test/support/resolver.cjs',
  setupFiles: [
    '<rootDir>/test/support/collect-log-lines.ts',
    '<rootDir>/test/support/provide-nest-to-commonjs.ts',
  ],
  reporters: ['default', '<rootDir>/test/support/whole-run.reporter.mjs'],
  maxWorkers: 2,
  testTimeout: 20_000,
};
