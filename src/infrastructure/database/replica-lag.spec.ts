import { ReplicaLag } from './replica-lag.js';

describe('ReplicaLag', () => {
  it('is unknown until the replica has replayed a position of the primary', () => {
    const lag = new ReplicaLag();
    lag.written(100n, 0);
    lag.replayed(40n);
    lag.written(120n, 3_000);
    expect(lag.seconds).toBeUndefined();
    expect(lag.minimumSeconds).toBe(3);
    lag.replayed(110n);
    expect(lag.seconds).toBe(0);
  });

  it('is the age of the oldest position that the replica has not replayed', () => {
    const lag = new ReplicaLag();
    for (let second = 0; second <= 10; second += 1) lag.written(BigInt(100 + second), second * 1_000);
    lag.replayed(103n);
    expect(lag.seconds).toBe(6);
    lag.replayed(110n);
    expect(lag.seconds).toBe(0);
  });

  it('does not grow while nobody writes', () => {
    const lag = new ReplicaLag();
    lag.written(100n, 0);
    lag.replayed(100n);
    lag.written(100n, 60_000);
    lag.replayed(100n);
    expect(lag.seconds).toBe(0);
  });

  it('grows while a replica that has lost its primary replays nothing, even if nobody writes any more', () => {
    const lag = new ReplicaLag();
    lag.written(100n, 0);
    lag.replayed(100n);
    lag.written(101n, 1_000);
    lag.written(101n, 61_000);
    lag.replayed(100n);
    expect(lag.seconds).toBe(60);
  });

  it('stays as it is while the primary is unavailable', () => {
    const lag = new ReplicaLag();
    lag.written(100n, 0);
    lag.replayed(100n);
    lag.written(101n, 1_000);
    lag.written(102n, 3_000);
    lag.replayed(100n);
    lag.replayed(100n);
    expect(lag.seconds).toBe(2);
  });

  it('starts again after a failover to a primary that is behind the old one', () => {
    const lag = new ReplicaLag();
    lag.written(100n, 0);
    lag.replayed(100n);
    lag.written(101n, 500);
    lag.written(90n, 1_000);
    expect(lag.seconds).toBeUndefined();
    lag.replayed(90n);
    expect(lag.seconds).toBe(0);
  });

  it('knows from which time on a read of the replica sees what a read of the primary saw', () => {
    const lag = new ReplicaLag();
    expect(lag.includes(0)).toBe(false);
    lag.written(100n, 1_000);
    lag.written(100n, 2_000);
    lag.written(101n, 3_000);
    lag.replayed(100n);
    expect([2_000, 2_001].map((time) => lag.includes(time))).toEqual([true, false]);
  });

  it('remembers the oldest of very many positions', () => {
    const lag = new ReplicaLag();
    lag.written(0n, 0);
    lag.replayed(0n);
    for (let second = 1; second <= 5_000; second += 1) lag.written(BigInt(second), second * 1_000);
    expect(lag.seconds).toBe(4_999);
    lag.replayed(5_000n);
    expect(lag.seconds).toBe(0);
  });
});
