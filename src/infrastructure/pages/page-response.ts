import type { ComponentChildren } from 'preact';

/** A page to show. */
export interface Page {
  /** Shown in the browser's tab and as the heading. */
  readonly title: string;
  /** The page that this one belongs to, such as the list that an item is in. */
  readonly parent?: { readonly title: string; readonly path: string };
  /** Links and buttons beside the heading. */
  readonly actions?: ComponentChildren;
  readonly content: ComponentChildren;
  /** Defaults to 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A redirect, sent as 303 so that a reload does not send the form again (RFC 9110, section 15.4.4). */
interface PageRedirect {
  /** A path of this service. */
  readonly redirectTo: string;
}

/** The return value of a page's handler. */
export type PageResponse = Page | PageRedirect;
