import { createContext, type ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import type { DashboardIdentity } from '../auth/index.js';
import type { PlatformEnvironment } from '../config/index.js';
import type { FormFields } from '../http/index.js';
import type { PageProblem, Refusal } from './page-problem.js';
import { UTC } from './time-zones.js';

export interface Page {
  /** Shown in the browser's tab and as the heading. */
  readonly title: string;
  /** The page that this one belongs to, such as the list that an item is in. */
  readonly parent?: { readonly title: string; readonly path: string };
  /** The content of a list, in one sentence beside the heading. */
  readonly about?: string;
  /** Links and buttons beside the heading. */
  readonly actions?: ComponentChildren;
  /** The messages about forms that lead to this page, by the values of `done`. */
  readonly messages?: Readonly<Record<string, string>> | undefined;
  readonly content: ComponentChildren;
  /** Defaults to 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The path of a script that only this page needs, for users who are not logged in, too. */
  readonly script?: string;
  /**
   * Whether a form of the page leads to another site, which may redirect to any other. Chromium cancels redirects to sites that
   * `form-action` does not list, and nobody knows them all: docs/decisions/0038-forms-sent-twice.md.
   */
  readonly formsLeaveSite?: boolean | undefined;
  /** Why the form or the query was not accepted. */
  readonly problem?: Refusal;
  /** Whether no copy of the page may be kept: a form or request that leads to it is processed again if the browser sends it twice. */
  readonly isNeverStored?: boolean;
  /** The token of the form that the page shows again. */
  readonly shownAgain?: string | undefined;
  /** Returns the page with fewer rows of its list, for rows with texts so long that the page would be too large. */
  readonly withFewerRows?: () => Promise<Page>;
}

/** A redirect, sent as 303 so that a reload does not send the form again (RFC 9110, section 15.4.4). */
interface PageRedirect {
  /** A path of this service, or the verified URL of another. */
  readonly redirectTo: string;
  /** Whether the browser sends the form there again, with a 307: a step of the login keeps it. */
  readonly keepsForm?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export type PageResponse = Page | PageRedirect;

/** Values that every page gets from the request. */
export interface PageContext {
  /** Proves that a form comes from our own page. */
  readonly formToken: string;
  /** A random value that distinguishes the forms of this page from those of every other page. */
  readonly pageToken: string;
  readonly user?: DashboardIdentity;
  /** The environment that the page shows, or else the one that the browser last showed. */
  readonly environment: PlatformEnvironment;
  readonly environments: readonly PlatformEnvironment[];
  readonly path: string;
  /** The parameters of the query that appear once. */
  readonly query: Readonly<Record<string, string>>;
  /** The address of the page of this service that led here, if the browser says so. */
  readonly cameFrom: string | undefined;
  /** Whether the address shows the page again: not if a form led to it. */
  readonly hasAddress: boolean;
  readonly now: Date;
  /** Returns the milliseconds within which the user must have logged in to send a form to this path; undefined for any login. */
  loginWithin(path: string): number | undefined;
  /** The page that this one belongs to. */
  readonly parent?: Page['parent'];
  /** The IANA name of the time zone in which the page shows times. */
  readonly timeZone: string;
  /** The filters of the page's list that are applied. Their fields enter them here. */
  readonly appliedFilters: AppliedFilter[];
  /** The filters that the user saved for this list; undefined if the page is no list with filters. */
  readonly savedFilters?: readonly SavedFilter[] | undefined;
  /** The message about the form that led to this page. */
  readonly done?: string;
  /** Why the form or the query was not accepted, and what the form contained. */
  readonly rejected?: {
    /** Fields enter their labels here. */
    readonly problem: PageProblem;
    readonly form: FormFields | undefined;
  };
}

export const CurrentPage = createContext<PageContext>({
  formToken: '',
  pageToken: '',
  environment: 'development',
  environments: [],
  path: '',
  query: {},
  cameFrom: undefined,
  hasAddress: false,
  now: new Date(0),
  loginWithin: () => undefined,
  timeZone: UTC,
  appliedFilters: [],
});

/** Returns the values of the request whose page is rendered. For components only. */
export const usePage = (): PageContext => useContext(CurrentPage);

interface AppliedFilter {
  readonly label: string;
  /** The value in words. */
  readonly text: string;
  /** The parameters without which the filter is not applied. */
  readonly names: readonly string[];
  /** Whether the field of the filter is in the line above the list instead of in a menu. */
  readonly isInLine: boolean;
}

export interface SavedFilter {
  readonly id: string;
  readonly name: string;
}

/** Port (bound in `src/ports.module.ts`): the filters that users have saved. */
export abstract class SavedFilters {
  /** Returns those of a user for a list, in alphabetical order. @param list the path of its page */
  abstract of(userId: string, list: string): Promise<readonly SavedFilter[]>;
}
