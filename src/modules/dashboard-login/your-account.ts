/** The page of the user's account, above the pages about its parts. */
export const YOUR_ACCOUNT = { title: 'Your account', path: '/account' };
