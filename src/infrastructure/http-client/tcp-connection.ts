import { once } from 'node:events';
import { connect, isIPv4, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { REFUSED } from './transport-failure.js';

/** Milliseconds until the next address is tried while the one before is still silent (RFC 8305, section 8). */
const STAGGER = 250;
/** A name with hundreds of addresses must not make hundreds of connections. */
const MAX_ADDRESSES = 4;

export interface TcpTarget {
  readonly addresses: readonly string[];
  readonly port: number;
  /** The address of this machine to leave from. */
  readonly localAddress?: string | undefined;
}

/**
 * A connection to the first of the addresses that takes one. IPv6 only for a host that has nothing else,
 * because the address that receivers know us by is of IPv4. Node's own racing (`autoSelectFamily`) gives up
 * each address after 250 ms instead of waiting on.
 */
export async function connectToOneOf(target: TcpTarget, signal: AbortSignal): Promise<Socket> {
  const candidates = candidatesOf(target);
  if (candidates.length === 0) throw REFUSED;
  const decided = new AbortController();
  const racing = AbortSignal.any([signal, decided.signal]);
  const attempts: Promise<Socket>[] = [];
  for (const address of candidates) {
    attempts.push(takeTurn(attempts.at(-1), racing).then(() => connectTo(address, target, racing)));
  }
  try {
    const winner = await Promise.any(attempts);
    for (const attempt of attempts) {
      attempt.then((socket) => socket !== winner && socket.destroy()).catch(() => undefined);
    }
    return winner;
  } catch (error) {
    throw signal.aborted ? signal.reason : (error as AggregateError).errors[0];
  } finally {
    decided.abort();
  }
}

function candidatesOf({ addresses, localAddress }: TcpTarget): readonly string[] {
  const ofFamily = (four: boolean): string[] => addresses.filter((address) => isIPv4(address) === four);
  const usable =
    localAddress === undefined
      ? [ofFamily(true), ofFamily(false)].find((family) => family.length > 0)
      : ofFamily(isIPv4(localAddress));
  return (usable ?? []).slice(0, MAX_ADDRESSES);
}

/** When the attempt before has failed, or has had its head start. */
async function takeTurn(before: Promise<Socket> | undefined, signal: AbortSignal): Promise<void> {
  if (before === undefined) return;
  const failed = new Promise<void>((resolve) => {
    before.catch(() => resolve());
  });
  await Promise.race([failed, sleep(STAGGER, undefined, { signal })]);
}

async function connectTo(
  address: string,
  { port, localAddress }: TcpTarget,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({ host: address, port, noDelay: true, ...(localAddress && { localAddress }) });
  // For good: an error between two listeners would end the process. Who uses the socket sees it closed.
  socket.on('error', () => undefined);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
