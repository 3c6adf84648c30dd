/** A stretch of time, both ends included; open where an end is absent. */
export interface Period {
  readonly start?: Date | undefined;
  readonly end?: Date | undefined;
}

/**
 * The period between two timestamps of a request. Entries are kept to the millisecond: a start between two
 * of them is the later, an end the earlier, so that no entry outside of the period gets in.
 */
export function periodOf({ start, end }: { start?: string | undefined; end?: string | undefined }): Period {
  return {
    start: start === undefined ? undefined : new Date(Date.parse(start) + (isBetween(start) ? 1 : 0)),
    end: end === undefined ? undefined : new Date(end),
  };
}

function isBetween(timestamp: string): boolean {
  return /\.\d{3}0*[1-9]/.test(timestamp);
}
