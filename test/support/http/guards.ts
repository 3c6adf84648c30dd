import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FailedCredentials } from '../../../src/infrastructure/rate-limiting/index.js';

/** The credentials of a request, wherever they are. */
export interface SentCredentials {
  readonly authorization?: string | undefined;
  readonly query?: object;
  readonly body?: object;
}

/** Never limits wrong credentials. */
export const noLimit = { count: async () => undefined } as unknown as FailedCredentials;

/** Returns the user that the guard admits, or what it responds. */
export async function outcomeOf(
  guard: CanActivate,
  { authorization, query = {}, body }: SentCredentials,
): Promise<unknown> {
  const request: Record<string, unknown> = { headers: { authorization }, query, body };
  const http = { getRequest: () => request, getResponse: () => ({}) };
  const context = { switchToHttp: () => http } as unknown as ExecutionContext;
  try {
    await guard.canActivate(context);
    return request['user'];
  } catch (error) {
    return (error as Error).message;
  }
}
