/** Durations in milliseconds, so that no reader has to multiply. */
export const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;
