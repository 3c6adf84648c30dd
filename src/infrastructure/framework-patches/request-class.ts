import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Pieces at the beginning of a body that are passed on as they are. Most bodies arrive in one or two. */
const UNGATHERED_PIECES = 16;
/** Bytes of a piece that is passed on as it is, and of the buffers that gather smaller ones. */
const LARGE_PIECE = 1_024;
const GATHERED_SIZE = 16_384;
/** A body may have this many pieces, and one more for each 16 bytes. */
const MAX_PIECES = 8_192;
const BYTES_PER_PIECE = 16;
/** If all bodies together have more pieces in this many milliseconds, each may have only so many. */
const MAX_PIECES_TOGETHER = 6_000;
const PERIOD = 100;
const MAX_PIECES_UNDER_ATTACK = 256;
/** Bodies in small pieces that are read on in one turn of the event loop. */
const BODIES_PER_TURN = 2;

/** Milliseconds for the responses to what arrived before. */
const CLOSE_DELAY = 1_000;

/** Requests whose gathered pieces wait to be passed on. */
const gathering: (() => void)[] = [];
let piecesTogether = 0;
let periodEnd = 0;

function passOn(): void {
  const now = performance.now();
  if (now > periodEnd) {
    piecesTogether = 0;
    periodEnd = now + PERIOD;
  }
  for (const flush of gathering.splice(0, BODIES_PER_TURN)) flush();
  if (gathering.length > 0) setImmediate(passOn);
}

interface PieceCounts {
  pieces: number;
  bytes: number;
  isScattered: boolean;
}

/** The part of Node.js's parser that `skipRest` uses. */
interface Parser extends Record<number, unknown> {
  readonly constructor: Readonly<Record<'kOnHeadersComplete' | 'kOnBody' | 'kOnMessageComplete', number>>;
}

/** Returns whether the body had more pieces than any client needs. The rest of such a body is discarded. */
export function isScattered(request: IncomingMessage): boolean {
  return (request as Partial<PieceCounts>).isScattered === true;
}

/** Counts the pieces of a pipelined request together with those of the request before it. */
export function countWith(previous: IncomingMessage, request: IncomingMessage): void {
  const { pieces, bytes } = previous as IncomingMessage & PieceCounts;
  Object.assign(request, { pieces, bytes });
}

/**
 * Written for Node.js 20 to 24. Evidence: docs/decisions/0041-hostile-input.md.
 *
 * Creates a class of requests that copy the small pieces of a body into larger buffers as they arrive. Node.js passes on each
 * chunk of a chunked body as a `Buffer` of its own, which takes 350 bytes and 1.5 µs: a read from the socket can have 11,000 chunks
 * of a byte.
 *
 * A class for each server, because Express changes the prototypes of the class that it gets.
 */
export function createRequestClass(): typeof IncomingMessage {
  return class Request extends IncomingMessage implements PieceCounts {
    isScattered = false;
    pieces = 0;
    bytes = 0;
    private gathered: Buffer | undefined;
    private gatheredBytes = 0;

    /** Called by Node.js with each piece, then with null. Returns whether to read on from the socket. */
    override push(piece: Buffer | null): boolean {
      if (piece === null) {
        this.flush();
        return super.push(null);
      }
      this.pieces += 1;
      this.bytes += piece.length;
      const isLarge = piece.length >= LARGE_PIECE && !this.gathered;
      if (this.pieces <= UNGATHERED_PIECES || isLarge) return super.push(piece);
      const allowed = piecesTogether > MAX_PIECES_TOGETHER ? MAX_PIECES_UNDER_ATTACK : MAX_PIECES;
      if (this.isScattered) return false;
      if (this.pieces > allowed + this.bytes / BYTES_PER_PIECE) {
        this.isScattered = true;
        skipRest(this.socket);
      }
      // The last piece, too: the reader of the body notices with it that the rest is discarded.
      this.gather(piece);
      return false;
    }

    private gather(piece: Buffer): void {
      piecesTogether += 1;
      if (this.gatheredBytes + piece.length > (this.gathered?.length ?? GATHERED_SIZE)) this.flush();
      if (!this.gathered) {
        this.gathered = Buffer.allocUnsafe(Math.max(GATHERED_SIZE, piece.length));
        if (gathering.push(() => this.flush()) === 1) setImmediate(passOn);
      }
      this.gatheredBytes += piece.copy(this.gathered, this.gatheredBytes);
    }

    private flush(): void {
      const bytes = this.gathered?.subarray(0, this.gatheredBytes);
      this.gathered = undefined;
      this.gatheredBytes = 0;
      if (bytes) super.push(bytes);
    }
  };
}

/**
 * Written for Node.js 20 to 24. Evidence: docs/decisions/0041-hostile-input.md.
 *
 * Lets the parser skip everything else that arrives on the connection, which must be closed afterwards.
 *
 * Pausing or destroying the socket prevents further reads only: Node.js would create an object for each of the remaining chunks
 * and requests of the current one.
 */
export function skipRest(socket: Socket): void {
  // Node.js resumes the socket when it wants the rest of a body.
  socket.on('resume', () => socket.pause()).pause();
  // Requests that the parser skips never end, so that no response to them may close the connection.
  const closing = setTimeout(() => socket.destroy(), CLOSE_DELAY);
  socket.once('close', () => clearTimeout(closing));
  const { parser } = socket as { parser?: Parser | null };
  if (!parser) return;
  const { kOnHeadersComplete, kOnBody, kOnMessageComplete } = parser.constructor;
  const callbacks = [kOnHeadersComplete, kOnBody, kOnMessageComplete].map((id) => [id, parser[id]] as const);
  for (const [id] of callbacks) parser[id] = undefined;
  // Node.js uses the parser again for other connections.
  socket.once('close', () => {
    for (const [id, callback] of callbacks) parser[id] = callback;
  });
}
