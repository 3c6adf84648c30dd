import { ErrorKind } from '../../infrastructure/errors/index.js';

export const SSO_CONFIGURATION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The organization has no single sign-on configuration with this ID.',
  message: 'There is no single sign-on configuration with this ID.',
});
