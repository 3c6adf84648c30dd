import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../time/index.js';
import { createRedisClient } from './redis-client.js';
import type { RedisConfiguration } from './redis.configuration.js';

const TIMEOUT = 3 * SECOND;

/** Connects once and writes a value. @returns the problem, if there is one */
export async function checkRedis(configuration: RedisConfiguration): Promise<string | undefined> {
  let problem: Error | undefined;
  const client = createRedisClient(configuration, (error) => (problem ??= error));
  client.on('error', (error: Error) => (problem ??= error));
  try {
    const write = client.connect().then(() => client.set('merchant-connectivity:probe', '1', 'PX', SECOND));
    const isDone = await Promise.race([write.then(() => true), pause(TIMEOUT, false, { ref: false })]);
    return isDone ? undefined : (problem?.message ?? `no reply within ${TIMEOUT} ms`);
  } catch (error) {
    return (problem ?? (error as Error)).message;
  } finally {
    client.disconnect();
  }
}
