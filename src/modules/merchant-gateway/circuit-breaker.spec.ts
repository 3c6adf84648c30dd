import { CircuitBreaker } from './circuit-breaker.js';

describe('CircuitBreaker', () => {
  const fail = (circuit: CircuitBreaker, times: number): void => {
    for (let time = 0; time < times; time += 1) circuit.fail();
  };

  it('opens after five failures in a row', () => {
    const circuit = new CircuitBreaker(() => 0);
    fail(circuit, 4);
    circuit.succeed();
    fail(circuit, 4);
    expect([circuit.isOpen, circuit.admit()]).toEqual([false, true]);
    circuit.fail();
    expect([circuit.isOpen, circuit.admit()]).toEqual([true, false]);
  });

  it('lets one request through every 10 seconds, and closes when one succeeds', () => {
    let now = 0;
    const circuit = new CircuitBreaker(() => now);
    fail(circuit, 5);
    now = 9_999;
    expect(circuit.admit()).toBe(false);
    now = 10_000;
    expect([circuit.admit(), circuit.admit()]).toEqual([true, false]);
    circuit.fail();
    now = 20_000;
    expect(circuit.admit()).toBe(true);
    circuit.succeed();
    expect([circuit.isOpen, circuit.admit(), circuit.admit()]).toEqual([false, true, true]);
  });
});
