import type { AttributedClient } from './request-context.js';

/** An answered call of an attributed client. */
export interface CompletedRequest extends AttributedClient {
  readonly method: string;
  readonly path: string;
  readonly statusCode: number;
  readonly latencyMilliseconds: number;
  /** The parsed body, where there was one. */
  readonly body: unknown;
  /** Where the handler knows them better than the body tells. */
  readonly sessionId?: string | undefined;
  readonly externalUserId?: string | undefined;
}

/** Hears of every attributed call just before its answer leaves. */
export abstract class RequestRecorder {
  /** The answer leaves when this resolves; it must not reject, and must not take long. */
  abstract record(call: CompletedRequest): Promise<void>;
  /** Resolves when nothing that was recorded waits any more, or when it has waited long enough. */
  abstract flush(): Promise<void>;
}
