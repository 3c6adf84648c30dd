import { Clock } from '../../src/infrastructure/time/index.js';
import type { TestApp } from './test-app.js';

/** Moves the service's clock forward or back until the end of the block: `using _clock = moveClock(…)`. The clock keeps running. */
export function moveClock(service: TestApp, milliseconds: number): Disposable {
  return override(service, () => Date.now() + milliseconds);
}

/** Stops the service's clock at this time until the end of the block: `using _clock = stopClock(…)`. */
export function stopClock(service: TestApp, time: Date): Disposable {
  return override(service, () => time.getTime());
}

function override(service: TestApp, milliseconds: () => number): Disposable {
  const clock = service.app.get(Clock);
  // The properties of an outer override, or none: then the methods of the class are used again.
  const { ...before } = clock;
  Object.assign(clock, { milliseconds, now: () => new Date(milliseconds()) });
  return {
    [Symbol.dispose]() {
      Reflect.deleteProperty(clock, 'milliseconds');
      Reflect.deleteProperty(clock, 'now');
      Object.assign(clock, before);
    },
  };
}
