/** The page above those of the identity providers. */
export const SSO_OVERVIEW = { title: 'Single sign-on', path: '/dashboard/single-sign-on' };

/** Returns the path of the page of an identity provider, or of an action there. */
export function configurationPath(id: string, ...action: readonly string[]): string {
  return [SSO_OVERVIEW.path, encodeURIComponent(id), ...action].join('/');
}
