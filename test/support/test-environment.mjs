import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism, loadavg } from 'node:os';
import { TestEnvironment } from 'jest-environment-node';
import { provideModules, readBundle } from './bundle/bundle.mjs';

/**
 * The stores that the current test file has created. Node.js copies every store in use to every new promise, and never
 * forgets one by itself: without disabling them, each test file of a worker is slower than the one before, and keeps its
 * modules in memory.
 */
const stores = new Set();
asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
  constructor(...options) {
    super(...options);
    stores.add(this);
  }
};

/** The application, which is compiled once for all test files of a worker. */
let bundle;

/** Node.js, with timeouts that grow with the load of the machine, and one report of a failed `beforeAll`. */
export default class LoadAwareEnvironment extends TestEnvironment {
  timeouts = new WeakMap();
  /** `collect-log-lines.ts` replaces them. They must not keep the modules of a test file in memory. */
  writes = [process.stdout, process.stderr].map((stream) => [stream, stream.write]);

  constructor(config, context) {
    super(config, context);
    if (!config.projectConfig.testEnvironmentOptions.usesBundle) return;
    bundle ??= readBundle(process.env.TEST_BUNDLE);
    provideModules(bundle, this.global, this.getVmContext());
  }

  async teardown() {
    await super.teardown();
    for (const [stream, write] of this.writes) stream.write = write;
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

function testsOf(block) {
  return block.children.flatMap((child) => (child.type === 'test' ? [child] : testsOf(child)));
}
