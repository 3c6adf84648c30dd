export const PAGE: string;
export function moduleDependencies(sources: ReadonlyMap<string, string>): Record<string, readonly string[]>;
export function modulesPage(sources: ReadonlyMap<string, string>): string;
