import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { SECOND } from '../time/index.js';
import { hasTooManyPieces } from './response.js';
import { TOO_MUCH } from './transport-error.js';

/** Milliseconds after a request. If the connection ends within this time, the receiver may not have got the request. */
const IMMEDIATE = SECOND;
/** Milliseconds added to two round trips, for a busy event loop. */
const LEEWAY = 20;
const STATUS_LINE_START = 'HTTP/1.1 1xx'.length;
const INTERIM = /^HTTP\/1\.\d 1(?!01)\d\d$/;
const HEAD_END = '\r\n\r\n';
/** Bytes of all interim responses together. undici limits the headers of the response itself to as many. */
const MAX_INTERIM = 16 * 1024;
/** Bytes that undici reads in a turn of the event loop. They can have 700 chunks of a byte, which take 4 ms. */
const SLICE = 4096;
/** Bytes of everything that arrives for a request: four times the longest document, because chunks have sizes and extensions. */
const MAX_RESPONSE = 1024 * 1024;

/**
 * The stream through which undici reads from and writes to a connection. On the way, this stream
 *
 * - ends the connection if more arrives for a request than any response needs, or in more pieces: what a receiver sends
 *   must cost little, whatever it is.
 * - removes interim responses (RFC 9110, section 15.2), because undici treats `100 Continue` as an error.
 * - finds out, if a reused connection ends right after a request, whether the receiver closed it before the request
 *   arrived. In that case the connection fails with `EPIPE`, and it is safe to send the request again.
 */
class GuardedSocket extends Duplex {
  private isExpecting = true;
  private isReused = false;
  private held: Buffer | undefined;
  private rest: Buffer | undefined;
  private requestedAt = 0;
  private bytesWritten = 0;
  /** The data that has arrived since the request. */
  private received = { bytes: 0, pieces: 0, interimBytes: 0 };

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

  /** undici lets an idle connection not keep the process alive. */
  ref(): void {
    this.socket.ref();
  }

  unref(): void {
    this.socket.unref();
  }

  override _read(): void {
    if (!this.rest) this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.expectResponse();
    this.socket.write(chunk, done);
  }

  /** Sends the head and the body of a request in one packet. */
  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.expectResponse();
    this.socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  /** undici writes a request at once, after the response to the one before it. */
  private expectResponse(): void {
    this.isExpecting = true;
    this.isReused = this.requestedAt > 0;
    this.requestedAt = performance.now();
    this.bytesWritten = this.socket.bytesWritten;
    this.received = { bytes: 0, pieces: 0, interimBytes: 0 };
  }

  private receive(chunk: Buffer): void {
    const { received } = this;
    received.bytes += chunk.length;
    received.pieces += 1;
    const isTooMuch = received.bytes > MAX_RESPONSE || hasTooManyPieces(received.pieces, received.bytes);
    const response = isTooMuch ? undefined : this.withoutInterimResponses(chunk);
    if (isTooMuch || received.interimBytes + (this.held?.length ?? 0) > MAX_INTERIM) this.destroy(TOO_MUCH);
    else if (response) this.pass(response);
  }

  /** Returns the bytes after the interim responses, or undefined if more bytes are needed to find their end. */
  private withoutInterimResponses(chunk: Buffer): Buffer | undefined {
    let rest = this.held === undefined ? chunk : Buffer.concat([this.held, chunk]);
    this.held = undefined;
    while (this.isExpecting && rest.length > 0) {
      const isInterim = INTERIM.test(rest.toString('latin1', 0, STATUS_LINE_START));
      const end = isInterim ? rest.indexOf(HEAD_END) : -1;
      if (rest.length >= STATUS_LINE_START && !isInterim) {
        this.isExpecting = false;
      } else if (end < 0 || this.received.interimBytes > MAX_INTERIM) {
        this.held = rest;
        return undefined;
      } else {
        this.received.interimBytes += end + HEAD_END.length;
        rest = rest.subarray(end + HEAD_END.length);
      }
    }
    return rest.length > 0 ? rest : undefined;
  }

  /** Passes on the first bytes now, and the others in the next turns: what has read the first may end the connection. */
  private pass(chunk: Buffer): void {
    this.rest = chunk.length > SLICE ? chunk.subarray(SLICE) : undefined;
    const isWanted = this.push(chunk.subarray(0, SLICE));
    if (this.rest) setImmediate((rest: Buffer) => this.destroyed || this.pass(rest), this.rest);
    if (this.rest || !isWanted) this.socket.pause();
    else this.socket.resume();
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

/** @param connectMilliseconds how long it took to connect, at least one round trip */
export function guarded(socket: Socket, connectMilliseconds: number): Socket {
  // undici uses the socket as a stream, whose type it declares more narrowly.
  return new GuardedSocket(socket, connectMilliseconds) as Duplex as Socket;
}
