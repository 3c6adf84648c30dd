import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { DashboardIdentity } from '../auth/index.js';
import type { PlatformEnvironment } from '../config/index.js';

/** Values that every page gets from the request. */
export interface PageContext {
  /** Proves that a form comes from our own page. */
  readonly formToken: string;
  /** The user, if one is logged in. */
  readonly user?: DashboardIdentity;
  /** The environment that the page shows, or else the one that the browser last showed. */
  readonly environment: PlatformEnvironment;
  /** The environments that this deployment serves. */
  readonly environments: readonly PlatformEnvironment[];
  readonly path: string;
  /** The parameters of the query that appear once. */
  readonly query: Readonly<Record<string, string>>;
  readonly now: Date;
}

export const CurrentPage = createContext<PageContext>({
  formToken: '',
  environment: 'development',
  environments: [],
  path: '',
  query: {},
  now: new Date(0),
});

/** Returns the values of the request whose page is rendered. For components only. */
export const usePage = (): PageContext => useContext(CurrentPage);
