import { ErrorKind } from '../../infrastructure/errors/index.js';

export const SAML_CONFIGURATION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'SamlConfigurationNotFound',
  when: 'The organization has no single sign-on configuration with this ID.',
  message: 'There is no single sign-on configuration with this ID.',
});

export const ANOTHER_CONFIGURATION_ENABLED =
  'Another single sign-on configuration is enabled: disable it first.';
export const ALL_CERTIFICATES_EXPIRED =
  'Every signing certificate of the configuration has expired: send new metadata first.';
export const MAX_CONFIGURATIONS = 20;
export const TOO_MANY_CONFIGURATIONS = `The organization already has ${MAX_CONFIGURATIONS} single sign-on configurations: change one of them.`;
