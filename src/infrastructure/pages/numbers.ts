const NUMBER = new Intl.NumberFormat('en');
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** Returns a number with separators, as all pages show it: 1,204. */
export const inDigits = (value: number): string => NUMBER.format(value);
/** Returns a share in percent: 2.9%. */
export const inPercent = (share: number): string => PERCENT.format(share);
/** Returns a duration: 1,204 ms. */
export const inMilliseconds = (value: number): string => `${inDigits(Math.round(value))} ms`;
