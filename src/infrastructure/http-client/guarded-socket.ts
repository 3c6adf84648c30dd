import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
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
 * What undici reads from and writes to a receiver's connection. On the way, this stream
 *
 * - removes interim responses (RFC 9110, section 15.2), because undici treats `100 Continue` as an error.
 * - finds out, if a reused connection ends right after a request, whether the receiver closed it before the request
 *   arrived. In that case the connection fails with `EPIPE`, and it is safe to send the request again.
 */
export class GuardedSocket extends Duplex {
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
    super();
    socket
      .on('data', (chunk: Buffer) => this.receive(chunk))
      .on('end', () => this.receiveEnd())
      .on('error', (error) => this.destroy(error))
      .on('close', () => this.destroy());
  }

  /** Call before a further request is sent on the connection. */
  expectResponse(): void {
    this.isExpecting = true;
    this.isReused = true;
    this.requestedAt = performance.now();
    this.bytesWritten = this.socket.bytesWritten;
  }

  /** undici lets an idle connection not keep the process alive. */
  ref(): void {
    this.socket.ref();
  }

  unref(): void {
    this.socket.unref();
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  /** Sends the head and the body of a request in one packet. */
  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  private receive(chunk: Buffer): void {
    if (!this.isExpecting) return this.pass(chunk);
    const received = this.held === undefined ? chunk : Buffer.concat([this.held, chunk]);
    this.held = undefined;
    const response = withoutInterimResponses(received);
    if (response === undefined) {
      this.held = received;
    } else if (response.length > 0) {
      this.isExpecting = false;
      this.pass(response);
    }
  }

  private pass(chunk: Buffer): void {
    if (!this.push(chunk)) this.socket.pause();
  }

  private receiveEnd(): void {
    const isSent = this.socket.bytesWritten > this.bytesWritten;
    const isImmediate = performance.now() - this.requestedAt < IMMEDIATE;
    if (this.isExpecting && this.isReused && isSent && isImmediate && this.held === undefined) {
      // If the receiver had closed the connection before the request arrived, its system rejects the request within a
      // round trip. Only a write makes Node.js notice that. Receivers ignore an empty line (RFC 9112, section 2.2).
      setTimeout(() => this.probe(), 2 * this.connectMilliseconds + LEEWAY);
      return;
    }
    if (this.held !== undefined) this.push(this.held);
    this.push(null);
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
