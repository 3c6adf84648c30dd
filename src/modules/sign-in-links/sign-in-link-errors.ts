import { ErrorKind } from '../../infrastructure/errors/index.js';

export const SIGN_IN_LINK_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'SignInLinkNotFound',
  when: 'The user has no sign-in link with this ID. Links are deleted a week after they expire.',
  message: 'There is no sign-in link with this ID.',
});

export const PHONE_NUMBER_UNREACHABLE = new ErrorKind(403, 'INVALID_REQUEST', 'NO_ACCESS', {
  label: 'PhoneNumberUnreachable',
  when: 'The MCP token has no phone number, or its phone number cannot receive text messages.',
  message:
    'This connection has no phone number of the user, so sign-in links cannot be sent. The company can create an MCP token with phone_number.',
});

export const MERCHANT_UNAVAILABLE = new ErrorKind(409, 'MERCHANT_ERROR', 'MERCHANT_UNAVAILABLE', {
  when: 'Users cannot sign in to the merchant with a link now: the status of the merchant is DOWN, or nobody can sign in to merchants in this environment.',
  message: 'Users cannot sign in to this merchant with a link at the moment.',
});

export const SIGN_IN_RATE_EXCEEDED = new ErrorKind(429, 'RATE_LIMIT_ERROR', 'RATE_LIMIT_EXCEEDED', {
  when: 'Too many forms were sent with the sign-in link, or with unknown links from the IP address, within a minute.',
  message: 'There were too many attempts. Wait a minute, then try again.',
});
