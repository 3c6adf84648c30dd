import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import passport from 'passport';
import { preparePassport } from './passport-framework.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

/** Members of the array that each request refers to, of 8 bytes each. */
const LENGTH = 2_500;
const REQUESTS = 500;
const ALL = LENGTH * 8 * REQUESTS;

class AcceptAll extends passport.Strategy {
  override authenticate(this: passport.StrategyCreated<this>): void {
    this.success({} as Express.User);
  }
}

async function authenticate(authenticator: passport.Authenticator, count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) {
    const request = { headers: {}, body: Array.from({ length: LENGTH }, () => each) };
    await new Promise((resolve) => {
      authenticator.authenticate('all', {}, resolve)(request, {}, resolve);
    });
  }
}

/** Returns the bytes that requests leave behind to which nothing refers, after a collection of the young generation of the heap. */
async function bytesLeft(authenticator: passport.Authenticator): Promise<number> {
  authenticator.use('all', new AcceptAll());
  await authenticate(authenticator, 50);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  await authenticate(authenticator, REQUESTS);
  collectGarbage({ type: 'minor' });
  collectGarbage({ type: 'minor' });
  return process.memoryUsage().heapUsed - before;
}

describe('preparePassport', () => {
  it('lets a collection of the young generation free the requests that were authenticated', async () => {
    preparePassport();
    expect(await bytesLeft(passport)).toBeLessThan(ALL / 4);
  });

  it('is needed as long as the framework of Passport keeps them', async () => {
    expect(await bytesLeft(new passport.Passport())).toBeGreaterThan(ALL / 2);
  });
});
