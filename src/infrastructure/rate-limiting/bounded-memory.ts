import { isIP } from 'node:net';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { boundedKey } from '../caching/index.js';
import { networkOfAddress } from '../http/index.js';

const LIMITS = {
  /** Subjects with an address that are counted separately, whatever their network. They take 56 MB. */
  subjects: 100_000,
  /** Beyond that number, the subjects of each network that are counted separately. */
  subjectsOfNetwork: 1_000,
};

/** Characters. With the longest address, the subject is short enough that no hash replaces it. */
const MAX_ID_LENGTH = 64;

/** Returns the subject of a limit that counts the addresses of each ID separately. Strangers can choose the ID. */
export function subjectAtAddress(id: string, address: string): string {
  return `${boundedKey(id, MAX_ID_LENGTH)} ${address}`;
}

/** Returns the network of the address with which a subject ends; undefined for a subject without an address. */
function networkOf(subject: string): string | undefined {
  const address = subject.slice(subject.lastIndexOf(' ') + 1);
  return isIP(address) ? networkOfAddress(address) : undefined;
}

/**
 * Counts in memory, of which strangers with many addresses cannot take any amount. Once there are very many subjects, further ones of a
 * network that has more than its share are counted together: they get less than the limit, and the subjects of other networks get
 * exactly the limit. Why the library alone is not enough: docs/decisions/0045-limits-in-memory.md.
 */
export class BoundedMemory extends RateLimiterMemory {
  /** The windows of subjects with an address, in the order in which they end; those before `ended` have ended. */
  private windows: { readonly network: string; readonly end: number }[] = [];
  private ended = 0;
  private readonly subjectsOf = new Map<string, number>();

  constructor(
    options: ConstructorParameters<typeof RateLimiterMemory>[0],
    private readonly limits = LIMITS,
  ) {
    super(options);
  }

  override async consume(
    key: string | number,
    ...rest: [points?: number, options?: Record<string, unknown>]
  ): Promise<RateLimiterRes> {
    const subject = String(key);
    const counted = (await this.isSeparate(subject)) ? subject : `network ${networkOf(subject)}`;
    const state = await super.consume(counted, ...rest);
    if (state.isFirstInDuration) this.begin(subject);
    return state;
  }

  private async isSeparate(subject: string): Promise<boolean> {
    this.removeEnded();
    if (this.windows.length - this.ended < this.limits.subjects) return true;
    const count = this.subjectsOf.get(networkOf(subject) ?? '') ?? 0;
    return count < this.limits.subjectsOfNetwork || (await this.get(subject)) !== null;
  }

  private begin(subject: string): void {
    const network = networkOf(subject);
    // Only those who are authenticated have a subject without an address.
    if (network === undefined) return;
    this.windows.push({ network, end: performance.now() + this.msDuration });
    this.subjectsOf.set(network, (this.subjectsOf.get(network) ?? 0) + 1);
  }

  private removeEnded(): void {
    const now = performance.now();
    for (let window; (window = this.windows[this.ended]) && window.end <= now; this.ended += 1) {
      const left = (this.subjectsOf.get(window.network) ?? 0) - 1;
      if (left > 0) this.subjectsOf.set(window.network, left);
      else this.subjectsOf.delete(window.network);
    }
    if (this.ended > this.windows.length / 2) {
      this.windows = this.windows.slice(this.ended);
      this.ended = 0;
    }
  }
}
