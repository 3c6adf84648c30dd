import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'undici';
import { MINUTE, SECOND } from '../time/index.js';
import { RESET } from './transport-failure.js';

/** Idle time, unless the receiver says (`Keep-Alive: timeout=`): less than the 5 s of many servers. */
const IDLE_TIME = 4 * SECOND;
/** However busy: a connection that lives long keeps to an address that its name has left. */
const MAX_CONNECTION_AGE = MINUTE;
/** Bytes of a body that are read, so that the connection can be used again; nobody needs what it says. */
const MAX_BODY_BYTES = 16 * 1024;

export interface ConnectionRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface AnswerHead {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
}

/** One open connection, for one request at a time. */
export class Connection {
  private readonly client: Client;
  private readonly openedAt = performance.now();

  constructor(
    readonly origin: string,
    private readonly socket: Socket,
  ) {
    this.client = new Client(origin, {
      connect: handOver(socket),
      pipelining: 1,
      keepAliveTimeout: IDLE_TIME,
      keepAliveMaxTimeout: MAX_CONNECTION_AGE,
      // The caller's deadline holds for all of it; undici's are for each chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** The head of the answer. Redirects are answers as any other. */
  async send({ path, headers, body }: ConnectionRequest, signal: AbortSignal): Promise<Answer> {
    const answer = await this.client.request({ method: 'POST', path, headers: { ...headers }, body, signal });
    const retryAfter = answer.headers['retry-after'];
    return {
      head: {
        statusCode: answer.statusCode,
        retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      },
      finish: async () => {
        await readShort(answer.body);
        // A receiver that closes with its answer has been heard after that, and is not written to again.
        await nextTurn();
      },
    };
  }

  /** Whether another request may be sent: as far as one can know before the receiver has seen it. */
  get isReusable(): boolean {
    const isYoung = performance.now() - this.openedAt < MAX_CONNECTION_AGE;
    return isYoung && !this.socket.destroyed && !this.client.destroyed;
  }

  onClosed(listener: () => void): void {
    this.socket.once('close', listener);
  }

  destroy(): void {
    this.socket.destroy();
    void this.client.destroy();
  }
}

export interface Answer {
  readonly head: AnswerHead;
  /** Reads the body, as far as that is worth while; never rejects. */
  finish(): Promise<void>;
}

/** Gives undici the one connection that there is; when it asks for another, this one was closed. */
function handOver(socket: Socket) {
  let isGiven = false;
  return (_: unknown, callback: (...result: [null, Socket] | [Error, null]) => void): void => {
    const isGone = isGiven || socket.destroyed;
    isGiven = true;
    // Not at once: undici is in the middle of its own loop, and would not notice.
    queueMicrotask(() => (isGone ? callback(RESET, null) : callback(null, socket)));
  };
}

/** Reads a body to its end, or cuts it where it is too long, which closes the connection. */
async function readShort(body: AsyncIterable<Buffer>): Promise<void> {
  let read = 0;
  try {
    for await (const chunk of body) {
      read += chunk.length;
      if (read > MAX_BODY_BYTES) return;
    }
  } catch {
    // The status has been told, whatever became of the body.
  }
}
