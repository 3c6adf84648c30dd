import { Tracing } from './tracing.js';

describe('Tracing', () => {
  it('waits at most 2 seconds for a collector that does not respond when the process ends', async () => {
    const never = new Promise<void>(() => undefined);
    const tracing = new Tracing({ close: () => never } as ConstructorParameters<typeof Tracing>[0]);
    const begin = performance.now();
    await tracing.onApplicationShutdown();
    expect(Math.round((performance.now() - begin) / 1_000)).toBe(2);
  });
});
