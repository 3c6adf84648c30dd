import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import argon2 from '@node-rs/argon2';
import { TestEnvironment } from 'jest-environment-node';
import { apiValidators } from '../documents/api-validators.mjs';
import { MODULES, provideModules, readBundle } from './bundle/bundle.mjs';
import { recordDistributedStatements } from '../database/record-distributed-statements.mjs';
import { shareRsaKeys } from './rsa-keys.mjs';

/**
 * The stores that the current test file has created. Node.js copies every store in use to every new promise, and never
 * forgets one by itself: without disabling them, each test file of a worker is slower than the one before, and keeps its
 * modules in memory.
 */
const stores = new Set();
// Node.js 24 has a property without a setter.
Object.defineProperty(asyncHooks, 'AsyncLocalStorage', {
  value: class extends AsyncLocalStorage {
    constructor(...options) {
      super(...options);
      stores.add(this);
    }
  },
});

/** The lowest cost of a password hash, which saves 18 ms per password. Programs, and its own unit test, use the real cost. */
const LOWEST_COST = { memoryCost: 8, timeCost: 1 };
let cost = {};
const CHEAP_ARGON2 = {
  ...argon2,
  hash: (password, options) => argon2.hash(password, { ...cost, ...options }),
};

const STACK_TRACE_LIMIT = 20;

/** Global names of this context that are those of a test file, too. `Reflect` has the metadata of decorators. */
const SHARED = ['Date', 'Error', 'Map', 'Reflect', 'Set'];

// What the database library warns about is an error in its next version: several statements at once on the connection of a transaction.
process.on('warning', ({ name, message }) => {
  const directory = process.env.TEST_RUN_DIRECTORY;
  if (directory && name === 'DeprecationWarning' && /\bpg@\d/.test(message))
    appendFileSync(join(directory, 'deprecations.txt'), `${message.replaceAll('\n', ' ')}\n`);
});

// A worker of Jest ends at once: Jest does not wait until Node.js has taken the memory apart.
if (process.send) process.once('beforeExit', () => process.exit());

/** State that all test files of a worker share: a function that returns modules of the application, and validators of responses. */
let shared;

/** Node.js, with timeouts that grow with the load of the machine, and one report of a failed `beforeAll`. */
export default class LoadAwareEnvironment extends TestEnvironment {
  timeouts = new WeakMap();
  writes = [process.stdout, process.stderr].map((stream) => [stream, stream.write]);
  /** Lines that the service has logged, for `log-lines.ts`. */
  logLines = [];

  constructor(config, context) {
    super(config, context);
    const { usesBundle = false, testsService = false } = config.projectConfig.testEnvironmentOptions;
    // A run of unit tests alone has no bundle, and needs no build.
    this.usesBundle = usesBundle && process.env.TEST_BUNDLE !== undefined;
    cost = testsService ? LOWEST_COST : {};
    shareRsaKeys(testsService);
    if (testsService) this.collectLogLines();
    if (!this.usesBundle) return;
    shared ??= loadShared();
    Object.assign(this.global, shared);
    // Tests and the application check whether objects of each other are instances of these.
    for (const name of SHARED) this.global[name] = globalThis[name];
  }

  async setup() {
    await super.setup();
    // Jest sets 100. The application creates an error, deep in its libraries, for each request that it refuses.
    Error.stackTraceLimit = STACK_TRACE_LIMIT;
  }

  /** Tells `bundle/resolver.cjs` where this file reads the modules of the application. */
  exportConditions() {
    return [...super.exportConditions(), ...(this.usesBundle ? ['test-bundle'] : [])];
  }

  /** Keeps the service's log lines from appearing between the test results. */
  collectLogLines() {
    this.global[Symbol.for('log lines')] = this.logLines;
    for (const [stream, write] of this.writes)
      stream.write = (chunk, ...rest) => {
        if (typeof chunk !== 'string' || !chunk.startsWith('{"level"'))
          return write.call(stream, chunk, ...rest);
        this.logLines.push(chunk);
        return true;
      };
  }

  async teardown() {
    await super.teardown();
    for (const [stream, write] of this.writes) stream.write = write;
    // The reporter searches them for secrets.
    if (this.logLines.length > 0)
      appendFileSync(
        join(process.env.TEST_RUN_DIRECTORY, 'logs', `${process.pid}.log`),
        this.logLines.join(''),
      );
    for (const store of stores) store.disable();
    stores.clear();
  }

  handleTestEvent(event, state) {
    if (event.name === 'test_start') this.extendTimeout(event.test, state);
    if (event.name === 'hook_start') this.extendTimeout(event.hook, state);
    if (event.name === 'hook_failure' && event.hook.type === 'beforeAll') {
      const [, ...others] = testsOf(event.describeBlock);
      for (const test of others) Object.assign(test, { errors: [], mode: 'skip' });
    }
  }

  /** A hook starts several times, so its own timeout is remembered. */
  extendTimeout(step, state) {
    if (!this.timeouts.has(step)) this.timeouts.set(step, step.timeout ?? state.testTimeout);
    step.timeout = this.timeouts.get(step) * (1 + loadavg()[0] / availableParallelism());
  }
}

function loadShared() {
  const scripts = readBundle(process.env.TEST_BUNDLE);
  registerSourceMaps(scripts);
  const read = provideModules(scripts, {
    '@node-rs/argon2': () => CHEAP_ARGON2,
    'playwright-core': () => createRequire(import.meta.url)('playwright-core'),
  });
  recordDistributedStatements(read);
  return { [MODULES]: read, [Symbol.for('API validators')]: apiValidators(read) };
}

/**
 * Makes Jest read the source maps of the bundle once. It would read a script (19 MB) and its map for each test file in which
 * somebody reads the stack trace of an error, because it remembers only the maps of files that it has compiled itself.
 */
function registerSourceMaps(scripts) {
  const { SourceMapSupport } = requireThrough('jest', '@jest/core', 'jest-runner', '@jest/source-map');
  const support = new SourceMapSupport();
  support.install(new Map(scripts.map(({ name }) => [name, `${name}.map`])));
  // Remembers the maps of the previous call for all later test files.
  support.install(new Map());
}

/** Returns a dependency of a dependency: the copy that Jest itself uses. */
function requireThrough(...names) {
  const last = names.pop();
  const require = names.reduce(
    (from, name) => createRequire(from.resolve(name)),
    createRequire(import.meta.url),
  );
  return require(last);
}

function testsOf(block) {
  return block.children.flatMap((child) => (child.type === 'test' ? [child] : testsOf(child)));
}
