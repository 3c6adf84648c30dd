/** A period that includes both ends. A missing end means no limit. */
export interface Period {
  readonly start?: Date | undefined;
  readonly end?: Date | undefined;
}

/**
 * Returns the period between two timestamps of a request. Entries are stored in milliseconds, so a more precise
 * start is rounded up and a more precise end down, and no entry outside the period is included.
 */
export function periodOf({ start, end }: { start?: string | undefined; end?: string | undefined }): Period {
  const roundedUp = /\.\d{3}0*[1-9]/.test(start ?? '') ? 1 : 0;
  return {
    start: start === undefined ? undefined : new Date(Date.parse(start) + roundedUp),
    end: end === undefined ? undefined : new Date(end),
  };
}
