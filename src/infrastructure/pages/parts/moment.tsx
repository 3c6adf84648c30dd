import type { VNode } from 'preact';
import { usePage } from '../page-context.js';

interface MomentProps {
  readonly time: Date;
  /** Whether the time is shown to the millisecond. */
  readonly isExact?: boolean;
}

/** A time in UTC, to the minute. */
export function Moment({ time, isExact = false }: MomentProps): VNode {
  return <time datetime={time.toISOString()}>{utc(time, isExact ? 23 : 16)}</time>;
}

/** A time relative to now, such as "5 minutes ago". Hovering shows the time in UTC to the second. */
export function RelativeTime({ time }: { readonly time: Date }): VNode {
  return (
    <time datetime={time.toISOString()} title={utc(time, 19)}>
      {relativeTime(time, usePage().now)}
    </time>
  );
}

function utc(time: Date, length: 16 | 19 | 23): string {
  return `${time.toISOString().slice(0, length).replace('T', ' ')} UTC`;
}

const FORMAT = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** Units and their lengths in seconds. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Returns the time in words, in whole units, rounded down: 119 seconds ago is "1 minute ago". */
function relativeTime(time: Date, now: Date): string {
  const seconds = Math.trunc((time.getTime() - now.getTime()) / 1_000);
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return FORMAT.format(Math.trunc(seconds / length), unit);
}
