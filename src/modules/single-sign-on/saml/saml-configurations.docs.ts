import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import {
  withMessages,
  uuidParameter,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import {
  CreateSamlConfigurationRequest,
  EXAMPLE_ID,
  SamlConfigurationResponse,
  UpdateSamlConfigurationRequest,
} from './saml-configurations.dto.js';
import {
  ALL_CERTIFICATES_EXPIRED,
  ANOTHER_CONFIGURATION_ENABLED,
  MAX_CONFIGURATIONS,
  SSO_CONFIGURATION_NOT_FOUND,
  TOO_MANY_CONFIGURATIONS,
} from '../configurations/sso-configurations.service.js';
import { METADATA_ERRORS } from './saml-metadata.js';

const ID = {
  id: uuidParameter('SamlConfigurationIdParameter', 'The `id` of the configuration.', EXAMPLE_ID),
};
const METADATA =
  'The metadata must describe an identity provider with an https URL for HTTP-Redirect or HTTP-POST and a signing ' +
  'certificate that has not expired. The key of the certificate must be RSA with at least 2048 bits, or EC on P-256 or ' +
  'better. Metadata with a document type is refused.';
const METADATA_INVALID =
  'The metadata does not meet the requirements. The message names the problem, for example: ' +
  METADATA_ERRORS.expired;

export const LIST_CONFIGURATIONS: OperationDocument = {
  operationId: 'listSamlConfigurations',
  summary: 'List single sign-on configurations',
  description:
    'Returns the configurations of your identity providers, in the order in which they were added. Use it to see which ' +
    'identity providers are configured, and when their certificates expire. An organization can have at most ' +
    `${MAX_CONFIGURATIONS} configurations. Available to admins and owners.`,
  response: [SamlConfigurationResponse],
  responseDescription: 'All configurations of the organization.',
  errors: [],
};

export const GET_CONFIGURATION: OperationDocument = {
  operationId: 'getSamlConfiguration',
  summary: 'Get a single sign-on configuration',
  description:
    'Returns one configuration. Use it before you change a configuration. Available to admins and owners.',
  pathParameters: ID,
  response: SamlConfigurationResponse,
  responseDescription: 'The configuration.',
  errors: [SSO_CONFIGURATION_NOT_FOUND],
};

export const CREATE_CONFIGURATION: OperationDocument = {
  operationId: 'createSamlConfiguration',
  summary: 'Add a single sign-on configuration',
  description:
    `Adds a configuration, which is not enabled yet. Use it to prepare login through your identity provider. ${METADATA} ` +
    `Available to admins and owners. Audited as \`sso.add\`.`,
  body: CreateSamlConfigurationRequest,
  response: SamlConfigurationResponse,
  responseDescription: 'The configuration with the values read from its metadata.',
  errors: [withMessages(INVALID_FIELD, METADATA_INVALID, TOO_MANY_CONFIGURATIONS)],
};

export const UPDATE_CONFIGURATION: OperationDocument = {
  operationId: 'updateSamlConfiguration',
  summary: 'Change a single sign-on configuration',
  description:
    'Changes the name or the metadata; absent fields keep their values. Use it when your identity provider has a new ' +
    `certificate or URL. ${METADATA} Available to admins and owners. Audited as \`sso.update\` if something ` +
    `changed.`,
  pathParameters: ID,
  body: UpdateSamlConfigurationRequest,
  response: SamlConfigurationResponse,
  responseDescription: 'The updated configuration.',
  errors: [withMessages(INVALID_FIELD, METADATA_INVALID), SSO_CONFIGURATION_NOT_FOUND],
};

export const ENABLE_CONFIGURATION: OperationDocument = {
  operationId: 'enableSamlConfiguration',
  summary: 'Enable a single sign-on configuration',
  description:
    'Enables a configuration after checking its certificates again. Only one configuration of an organization can be ' +
    'enabled at a time. Use it to choose the configuration that applies. Available to admins and owners. Audited as ' +
    `\`sso.enable\` only if something changes.`,
  pathParameters: ID,
  response: SamlConfigurationResponse,
  responseDescription: 'The configuration is enabled.',
  responseExample: { enabled: true },
  errors: [
    withMessages(INVALID_FIELD, ANOTHER_CONFIGURATION_ENABLED, ALL_CERTIFICATES_EXPIRED),
    SSO_CONFIGURATION_NOT_FOUND,
  ],
};

export const DISABLE_CONFIGURATION: OperationDocument = {
  operationId: 'disableSamlConfiguration',
  summary: 'Disable a single sign-on configuration',
  description:
    'Disables a configuration without deleting it; you can enable it again. Use it to stop using a configuration for ' +
    `now. Available to admins and owners. Audited as \`sso.disable\` only if something changes.`,
  pathParameters: ID,
  response: SamlConfigurationResponse,
  responseDescription: 'The configuration is disabled.',
  errors: [SSO_CONFIGURATION_NOT_FOUND],
};
