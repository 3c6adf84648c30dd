/** Seconds from the creation of a token until it expires. */
export const MIN_LIFETIME = 60;
export const DEFAULT_LIFETIME = 86_400;
export const MAX_LIFETIME = 2_592_000;
