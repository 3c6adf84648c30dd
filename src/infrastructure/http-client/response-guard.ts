import type { Socket } from 'node:net';
import { SECOND } from '../time/index.js';

/** Milliseconds after a request. If the connection ends within this time, the receiver may not have got the request. */
const IMMEDIATE = SECOND;
/** Milliseconds added to two round trips, for a busy event loop. */
const LEEWAY = 20;
const STATUS_LINE_START = 'HTTP/1.1 1xx'.length;
const INTERIM = /^HTTP\/1\.\d 1(?!01)\d\d$/;
const HEAD_END = '\r\n\r\n';
/** Bytes. undici's limit for the headers of a response. */
const MAX_HEAD = 16 * 1024;

/**
 * Filters what undici reads from a receiver's connection:
 *
 * - Removes interim responses (RFC 9110, section 15.2), because undici treats `100 Continue` as an error.
 * - If a reused connection ends right after a request, finds out whether the receiver closed it before the request
 *   arrived. In that case the connection fails with `EPIPE`, and it is safe to send the request again.
 */
export class ResponseGuard {
  private readonly push: Socket['push'];
  private isExpecting = true;
  private isReused = false;
  private held: Buffer | undefined;
  private requestedAt = 0;
  private bytesWritten = 0;

  /** @param connectMilliseconds how long it took to connect, at least one round trip */
  constructor(
    private readonly socket: Socket,
    private readonly connectMilliseconds: number,
  ) {
    this.push = socket.push.bind(socket);
    socket.push = (chunk: Buffer | null, encoding) =>
      this.isExpecting ? this.filter(chunk) : this.push(chunk, encoding);
  }

  /** Call before a further request is sent on the connection. */
  expectResponse(): void {
    this.isExpecting = true;
    this.isReused = true;
    this.requestedAt = performance.now();
    this.bytesWritten = this.socket.bytesWritten;
  }

  private filter(chunk: Buffer | null): boolean {
    if (chunk === null) return this.end();
    const received = this.held === undefined ? chunk : Buffer.concat([this.held, chunk]);
    this.held = undefined;
    const response = withoutInterimResponses(received);
    if (response === undefined) {
      this.held = received;
      return true;
    }
    if (response.length === 0) return true;
    this.isExpecting = false;
    return this.push(response);
  }

  private end(): boolean {
    const isSent = this.socket.bytesWritten > this.bytesWritten;
    const isImmediate = performance.now() - this.requestedAt < IMMEDIATE;
    if (this.isReused && isSent && isImmediate && this.held === undefined) {
      // If the receiver had closed the connection before the request arrived, its system rejects the request within a
      // round trip. Only a write makes Node.js notice that. Receivers ignore an empty line (RFC 9112, section 2.2).
      setTimeout(() => this.probe(), 2 * this.connectMilliseconds + LEEWAY);
      return false;
    }
    if (this.held !== undefined) this.push(this.held);
    return this.push(null);
  }

  private probe(): void {
    this.socket.write('\r\n', (error) => {
      if (!error) this.push(null);
    });
  }
}

/** Returns the bytes after the interim responses, or undefined if more bytes are needed to find their end. */
function withoutInterimResponses(received: Buffer): Buffer | undefined {
  let rest = received;
  while (rest.length > 0) {
    if (rest.length < STATUS_LINE_START) return undefined;
    if (!INTERIM.test(rest.toString('latin1', 0, STATUS_LINE_START))) return rest;
    const end = rest.indexOf(HEAD_END);
    if (end < 0) return rest.length > MAX_HEAD ? rest : undefined;
    rest = rest.subarray(end + HEAD_END.length);
  }
  return rest;
}
