import { availableParallelism, loadavg } from 'node:os';
import { TestEnvironment } from 'jest-environment-node';

/** Node.js, with timeouts that grow with the load of the machine, and one report of a failed `beforeAll`. */
export default class LoadAwareEnvironment extends TestEnvironment {
  timeouts = new WeakMap();

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
