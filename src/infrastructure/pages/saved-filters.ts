export interface SavedFilter {
  readonly id: string;
  readonly name: string;
}

/** Port (bound in `src/ports.module.ts`): the filters that users have saved. */
export abstract class SavedFilters {
  /** Returns those of a user for a list, in alphabetical order. @param list the path of its page */
  abstract of(userId: string, list: string): Promise<readonly SavedFilter[]>;
}
