/** Exit codes: `failed` (standard error says why) and `incomplete` (some input was skipped). */
export const EXIT = { failed: 1, incomplete: 2 } as const;
