import { Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditAction } from '../audit-logs/index.js';
import {
  ALL_CERTIFICATES_EXPIRED,
  ANOTHER_CONFIGURATION_ENABLED,
  MAX_CONFIGURATIONS,
  SAML_CONFIGURATION_NOT_FOUND,
  TOO_MANY_CONFIGURATIONS,
} from './saml-configuration-errors.js';
import {
  CreateSamlConfigurationRequest,
  EXAMPLE_CONFIGURATION,
  SamlConfigurationResponse,
  UpdateSamlConfigurationRequest,
} from './saml-configurations.dto.js';
import { SamlConfigurationsService } from './saml-configurations.service.js';
import { METADATA_ERRORS } from './saml-metadata.js';

const ID = { id: { description: 'The configuration’s `id`.', example: EXAMPLE_CONFIGURATION.id } };
const NOT_YET = '\n\nLogin by SAML single sign-on is not offered yet: configurations are kept for it.';
const METADATA =
  'The metadata must be that of an identity provider, with an https address for HTTP-Redirect or HTTP-POST and a ' +
  'signing certificate that has not expired and whose key is RSA of at least 2048 bits or EC on P-256 or better. ' +
  'A document type is refused.';

@Topic('Single sign-on', 'Your identity providers. By login alone.')
@Controller()
export class SamlConfigurationsController {
  constructor(private readonly configurations: SamlConfigurationsService) {}

  @Get('saml-configurations')
  @DashboardOperation({
    operationId: 'listSamlConfigurations',
    summary: 'List single sign-on configurations',
    description:
      'What you told of your identity providers, in the order in which they were added. Use it to see which ' +
      'identity providers you have told of, and until when their certificates are good. An organization has at ' +
      `most ${MAX_CONFIGURATIONS}. For admins and owners.${NOT_YET}`,
    permission: { token: 'none', role: 'admin' },
    response: [SamlConfigurationResponse],
    responseDescription: 'All configurations of the organization.',
    responseExample: [EXAMPLE_CONFIGURATION],
    errors: [],
  })
  list(@CurrentActor() actor: DashboardActor): Promise<SamlConfigurationResponse[]> {
    return this.configurations.list(actor);
  }

  @Get('saml-configurations/:id')
  @DashboardOperation({
    operationId: 'getSamlConfiguration',
    summary: 'Get a single sign-on configuration',
    description: `One configuration. Call it before you change one. For admins and owners.${NOT_YET}`,
    permission: { token: 'none', role: 'admin' },
    pathParameters: ID,
    response: SamlConfigurationResponse,
    responseDescription: 'The configuration.',
    responseExample: EXAMPLE_CONFIGURATION,
    errors: [SAML_CONFIGURATION_NOT_FOUND],
  })
  get(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<SamlConfigurationResponse> {
    return this.configurations.get(actor, id);
  }

  @Post('saml-configurations/create')
  @DashboardOperation({
    operationId: 'createSamlConfiguration',
    summary: 'Add a single sign-on configuration',
    description:
      `${METADATA} The configuration is not enabled yet. Use it to prepare login by your identity provider. ` +
      `For admins and owners. Audited as \`sso.add\`.${NOT_YET}`,
    permission: { token: 'none', role: 'admin', action: auditAction('sso.add') },
    body: CreateSamlConfigurationRequest,
    response: SamlConfigurationResponse,
    responseDescription: 'The configuration, with what was read from its metadata.',
    responseExample: EXAMPLE_CONFIGURATION,
    errors: [withMessages(INVALID_FIELD, ...Object.values(METADATA_ERRORS), TOO_MANY_CONFIGURATIONS)],
  })
  create(
    @CurrentActor() actor: DashboardActor,
    @JsonBody() request: CreateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    return this.configurations.create(actor, request);
  }

  @Patch('saml-configurations/:id')
  @DashboardOperation({
    operationId: 'updateSamlConfiguration',
    summary: 'Change a single sign-on configuration',
    description:
      'Changes the name or the metadata; fields that are absent stay as they are. Use it when your identity ' +
      `provider has a new certificate or address. ${METADATA} For admins and ` +
      `owners. Audited as \`sso.update\` when something changed.${NOT_YET}`,
    permission: { token: 'none', role: 'admin', action: auditAction('sso.update') },
    pathParameters: ID,
    body: UpdateSamlConfigurationRequest,
    response: SamlConfigurationResponse,
    responseDescription: 'The configuration as it is now.',
    responseExample: EXAMPLE_CONFIGURATION,
    errors: [withMessages(INVALID_FIELD, ...Object.values(METADATA_ERRORS)), SAML_CONFIGURATION_NOT_FOUND],
  })
  update(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @JsonBody() request: UpdateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    return this.configurations.update(actor, id, request);
  }

  @Post('saml-configurations/:id/enable')
  @DashboardOperation({
    operationId: 'enableSamlConfiguration',
    summary: 'Enable a single sign-on configuration',
    description:
      'One configuration of an organization is enabled at a time. Use it to choose the configuration that ' +
      'counts. Its certificates are looked at again. For ' +
      `admins and owners. Audited as \`sso.enable\`, once.${NOT_YET}`,
    permission: { token: 'none', role: 'admin', action: auditAction('sso.enable') },
    pathParameters: ID,
    response: SamlConfigurationResponse,
    responseDescription: 'The configuration is enabled.',
    responseExample: { ...EXAMPLE_CONFIGURATION, enabled: true },
    errors: [
      withMessages(INVALID_FIELD, ANOTHER_CONFIGURATION_ENABLED, ALL_CERTIFICATES_EXPIRED),
      SAML_CONFIGURATION_NOT_FOUND,
    ],
  })
  enable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<SamlConfigurationResponse> {
    return this.configurations.enable(actor, id);
  }

  @Post('saml-configurations/:id/disable')
  @DashboardOperation({
    operationId: 'disableSamlConfiguration',
    summary: 'Disable a single sign-on configuration',
    description:
      'The configuration stays and can be enabled again. Use it to put a configuration aside. For admins ' +
      `and owners. Audited as \`sso.disable\`, once.${NOT_YET}`,
    permission: { token: 'none', role: 'admin', action: auditAction('sso.disable') },
    pathParameters: ID,
    response: SamlConfigurationResponse,
    responseDescription: 'The configuration is disabled.',
    responseExample: EXAMPLE_CONFIGURATION,
    errors: [SAML_CONFIGURATION_NOT_FOUND],
  })
  disable(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<SamlConfigurationResponse> {
    return this.configurations.disable(actor, id);
  }
}
