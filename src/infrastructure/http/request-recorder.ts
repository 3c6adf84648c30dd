import type { AttributedClient } from './request-context.js';

/** A completed request of a known client. */
export interface CompletedRequest extends AttributedClient {
  readonly method: string;
  readonly path: string;
  readonly statusCode: number;
  readonly latencyMilliseconds: number;
  /** The parsed body, if there was one. */
  readonly body: unknown;
  /** Set if the handler knows values that the body does not contain. */
  readonly sessionId?: string | undefined;
  readonly externalUserId?: string | undefined;
  /** Name of the tool that an agent called. */
  readonly tool?: string | undefined;
}

/** Records every request of a known client before its response is sent. */
export abstract class RequestRecorder {
  /** The response is sent when this resolves. Must not reject and must not take long. */
  abstract record(request: CompletedRequest): Promise<void>;
  /** Called once, when the process ends. Resolves when everything has been written or saved, or after a time limit. */
  abstract close(): Promise<void>;
}
