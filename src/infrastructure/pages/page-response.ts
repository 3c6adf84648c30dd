import type { ComponentChildren } from 'preact';

/** A page to show. */
export interface Page {
  /** Names the page in the browser's tab and as its heading. */
  readonly title: string;
  readonly content: ComponentChildren;
  /** 200 when it is left out. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Another page to go to; sent as 303, so that a reload does not send the form again (RFC 9110, section 15.4.4). */
interface PageRedirect {
  /** A path of ours. */
  readonly redirectTo: string;
}

/** What the handler of a page answers with. */
export type PageResponse = Page | PageRedirect;
