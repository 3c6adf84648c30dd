export const FILE: string;
export type PageDates = Readonly<Record<string, { readonly date: string; readonly digest: string }>>;
export function pageDates(known: PageDates, today: string): PageDates;
