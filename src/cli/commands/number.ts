/**
 * The number that an option was given in plain digits, else NaN, which every use refuses. `Number('')` is 0:
 * an unset variable of a script must not mean that.
 */
export function numberFrom(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
