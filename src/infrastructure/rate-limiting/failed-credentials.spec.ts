import type { Request } from 'express';
import { openRequestContext, requestContext } from '../http/index.js';
import { FailedCredentials } from './failed-credentials.js';
import type { RateLimiters } from './rate-limiters.js';

/** Each limit counts in a map of its own; the one per address is exceeded. */
function limitersWith(counted: Map<string, Set<string>>): RateLimiters {
  const limit = ({ name }: { readonly name: string }): object => {
    const keys = new Set<string>();
    counted.set(name, keys);
    const count = (subject: string): Promise<number | undefined> => {
      const isRepeated = keys.has(subject);
      keys.add(subject);
      return Promise.resolve(isRepeated ? 60 : undefined);
    };
    const consume = (subject: string): Promise<object> => {
      keys.add(subject);
      return Promise.resolve(name.endsWith('per-address') ? { retryAfter: 60 } : {});
    };
    return { count, consume, headersOf: () => ({}) };
  };
  return { limit } as unknown as RateLimiters;
}

function requestOf(clientId?: string): Request {
  const request = { ip: '192.0.2.1', headers: {}, socket: {} } as unknown as Request;
  const context = openRequestContext(request);
  if (clientId !== undefined) context.client = { clientId, environment: 'production' };
  return request;
}

describe('FailedCredentials', () => {
  it('remembers only clients that exist once an address is beyond its limit', async () => {
    const counted = new Map<string, Set<string>>();
    const failures = new FailedCredentials(limitersWith(counted));
    const isRecorded = async (request: Request, id: string): Promise<boolean> => {
      expect(await failures.count(request, id)).toMatchObject({ retryAfter: 60 });
      return requestContext(request).isRecorded;
    };
    for (const id of ['made-up-1', 'made-up-2']) expect(await isRecorded(requestOf(), id)).toBe(false);
    for (const isFirst of [true, false])
      expect(await isRecorded(requestOf('client'), 'client')).toBe(isFirst);
    expect([...(counted.get('failed-credentials-entries') ?? [])]).toEqual(['client 192.0.2.1']);
  });
});
