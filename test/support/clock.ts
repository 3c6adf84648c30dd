import { DatabaseClock } from '../../src/infrastructure/database/index.js';
import { Clock } from '../../src/infrastructure/time/index.js';
import type { TestApp } from './test-app.js';

/**
 * Moves the service's clock forward or back until the end of the block: `using _clock = moveClock(…)`. The clock keeps running. If it
 * is moved forward, time passes on the monotonic clock, too. The database's clock counts as moved as well.
 */
export function moveClock(service: TestApp, milliseconds: number): Disposable {
  letTimePass(service.app.get(Clock), Math.max(0, milliseconds));
  return override(service, () => Date.now() + milliseconds, true);
}

/**
 * Sets the service's wall clock forward or back until the end of the block, after time has passed on the monotonic clock. The database's
 * clock stays as it is.
 */
export function setClock(service: TestApp, milliseconds: number, passed = 0): Disposable {
  letTimePass(service.app.get(Clock), passed);
  return override(service, () => Date.now() + milliseconds);
}

/** Stops the service's clock at this time until the end of the block: `using _clock = stopClock(…)`. */
export function stopClock(service: TestApp, time: Date): Disposable {
  letTimePass(service.app.get(Clock), Math.max(0, time.getTime() - Date.now()));
  return override(service, () => time.getTime(), true);
}

const passedOn = new WeakMap<Clock, number>();

/** For good: the monotonic clock never goes back. */
function letTimePass(clock: Clock, milliseconds: number): void {
  const passed = (passedOn.get(clock) ?? 0) + milliseconds;
  passedOn.set(clock, passed);
  Object.assign(clock, { monotonic: () => performance.now() + passed });
}

function override(service: TestApp, milliseconds: () => number, ofDatabase = false): Disposable {
  const clock = service.app.get(Clock);
  // The properties of an outer override, or none: then the methods of the class are used again.
  const { milliseconds: outer, now } = clock;
  const before = Object.hasOwn(clock, 'milliseconds') ? { milliseconds: outer, now } : {};
  Object.assign(clock, { milliseconds, now: () => new Date(milliseconds()) });
  const databaseClock = service.app.get(DatabaseClock) as unknown as { measure?: () => Promise<number> };
  const wasMoved = Object.hasOwn(databaseClock, 'measure');
  if (ofDatabase) databaseClock.measure = () => Promise.resolve(0);
  return {
    [Symbol.dispose]() {
      Reflect.deleteProperty(clock, 'milliseconds');
      Reflect.deleteProperty(clock, 'now');
      Object.assign(clock, before);
      if (!wasMoved) delete databaseClock.measure;
    },
  };
}
