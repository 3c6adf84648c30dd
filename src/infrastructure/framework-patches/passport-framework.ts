import type { Request, RequestHandler } from 'express';
import passport, { type AuthenticateCallback, type Framework } from 'passport';

interface Strategies {
  /** Other frameworks for Passport use it, too. */
  _strategy(name: string): object | undefined;
}

interface RunningStrategy {
  authenticate(request: Request, options: object): void;
}

const ignored: AuthenticateCallback = () => undefined;

/**
 * Written for Passport 0.7.0. Evidence: docs/decisions/0022-heap-growth.md.
 *
 * Runs one strategy and gives its result to a callback, which is what `AuthGuard` needs. Passport's own framework assigns functions
 * to each strategy that it runs. V8 allocates such functions in the old generation of the heap, where they keep the request until
 * that is collected.
 */
const framework: Framework = {
  initialize: () => (_request, _response, next) => next(),
  authenticate:
    (authenticator, name: string, options: object, callback = ignored): RequestHandler =>
    (request, _response, next) => {
      const result = {
        success: (user: Express.User, info?: object) => callback(null, user, info),
        fail: (challenge?: string, status?: number) => callback(null, false, challenge, status),
        error: (error: unknown) => callback(error),
        pass: () => next(),
      };
      const prototype = (authenticator as unknown as Strategies)._strategy(name);
      if (!prototype) throw new Error(`No Passport strategy has the name ${name}.`);
      Object.assign(Object.create(prototype) as RunningStrategy, result).authenticate(request, options);
    },
};

/** Call it once, before a guard runs. */
export function preparePassport(): void {
  passport.framework(framework);
}
