import { Clock } from '../../src/infrastructure/time/index.js';
import type { TestApp } from './test-app.js';

/** Moves the service's clock forward or back until the returned function is called. The clock keeps running. */
export function moveClock(service: TestApp, milliseconds: number): () => void {
  return override(service, () => Date.now() + milliseconds);
}

/** Stops the service's clock at this time, until the returned function is called. */
export function stopClock(service: TestApp, time: Date): () => void {
  return override(service, () => time.getTime());
}

function override(service: TestApp, milliseconds: () => number): () => void {
  const clock = service.app.get(Clock);
  Object.assign(clock, { milliseconds, now: () => new Date(milliseconds()) });
  return () => {
    // Without the own property, the method of the class is used again.
    Reflect.deleteProperty(clock, 'milliseconds');
    Reflect.deleteProperty(clock, 'now');
  };
}
