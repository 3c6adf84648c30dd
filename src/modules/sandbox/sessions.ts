import { ErrorKind } from '../../infrastructure/errors/index.js';

export const SESSION_NOT_FOUND = new ErrorKind({
  status: 404,
  type: 'SESSION_ERROR',
  code: 'SESSION_NOT_FOUND',
  when: 'There is no session with this id.',
  message: 'There is no session with this id.',
});

/** What webhooks tell of a session. */
export interface SessionFacts {
  readonly externalUserId: string;
  readonly cardId: string | null;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/** The sessions, until the module `sessions` is here, whose own of the same name takes this one's place. */
export abstract class Sessions {
  /** @returns undefined where the client has no such session */
  abstract metadataOf(clientId: string, sessionId: string): Promise<SessionFacts | undefined>;
}
