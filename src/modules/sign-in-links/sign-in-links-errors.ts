import { ErrorKind } from '../../infrastructure/errors/index.js';

export const SIGN_IN_RATE_EXCEEDED = new ErrorKind(429, 'RATE_LIMIT_ERROR', 'RATE_LIMIT_EXCEEDED', {
  when: 'Too many forms were sent with the sign-in link, or with unknown links from the IP address, within a minute.',
  message: 'There were too many attempts. Wait a minute, then try again.',
});

export const SIGN_IN_LINK_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'SignInLinkNotFound',
  when: 'The user has no sign-in link with this ID. Links are deleted a week after they expire.',
  message: 'There is no sign-in link with this ID.',
});

export const PHONE_NUMBER_UNREACHABLE = new ErrorKind(403, 'INVALID_REQUEST', 'NO_ACCESS', {
  label: 'PhoneNumberUnreachable',
  when: 'There is neither a phone number of the user nor a login page, or the phone number cannot receive text messages.',
  message:
    'This connection has no phone number of the user, and the company has no login page, so sign-in links cannot be created. The company can create an MCP token with phone_number, or set a login page.',
});

/** The message about the phone number of a link that no agent creates. */
export const PREMIUM_RATE_NUMBER = 'The phone number is a premium-rate number, which gets no text messages.';

export const MERCHANT_UNAVAILABLE = new ErrorKind(409, 'MERCHANT_ERROR', 'MERCHANT_UNAVAILABLE', {
  when: 'Users cannot sign in to the merchant with a link now: the status of the merchant is DOWN, the merchant gateway does not respond, or sign-in is not configured in this environment.',
  message: 'Users cannot sign in to this merchant with a link at the moment.',
});
