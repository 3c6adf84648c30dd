import { Body, Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { SsoConfigurationsService } from '../configurations/sso-configurations.service.js';
import {
  CreateSamlConfigurationRequest,
  SamlConfigurationResponse,
  UpdateSamlConfigurationRequest,
  toSamlResponse,
} from './saml-configurations.dto.js';
import {
  LIST_CONFIGURATIONS,
  GET_CONFIGURATION,
  CREATE_CONFIGURATION,
  UPDATE_CONFIGURATION,
  ENABLE_CONFIGURATION,
  DISABLE_CONFIGURATION,
} from './saml-configurations.docs.js';

@Topic(
  'Single sign-on',
  'Your SAML identity providers, through which users log in to the dashboard. Requires a login. Configuration tests and OpenID Connect are available only in the dashboard.',
)
@Controller()
export class SamlConfigurationsController {
  constructor(private readonly configurations: SsoConfigurationsService) {}

  @Get('saml-configurations')
  @DashboardOperation(LIST_CONFIGURATIONS)
  async list(@CurrentActor() actor: DashboardActor): Promise<SamlConfigurationResponse[]> {
    return (await this.configurations.list(actor, 'saml')).map(toSamlResponse);
  }

  @Get('saml-configurations/:id')
  @DashboardOperation(GET_CONFIGURATION)
  async get(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<SamlConfigurationResponse> {
    return toSamlResponse(await this.configurations.get(actor, id, 'saml'));
  }

  @Post('saml-configurations/create')
  @DashboardOperation(CREATE_CONFIGURATION)
  async create(
    @CurrentActor() actor: DashboardActor,
    @Body() request: CreateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    return toSamlResponse(await this.configurations.addSaml(actor, request));
  }

  @Patch('saml-configurations/:id')
  @DashboardOperation(UPDATE_CONFIGURATION)
  async update(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: UpdateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    return toSamlResponse(await this.configurations.changeSaml(actor, id, request));
  }

  @Post('saml-configurations/:id/enable')
  @DashboardOperation(ENABLE_CONFIGURATION)
  async enable(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<SamlConfigurationResponse> {
    return toSamlResponse(await this.configurations.enable(actor, id, 'saml'));
  }

  @Post('saml-configurations/:id/disable')
  @DashboardOperation(DISABLE_CONFIGURATION)
  async disable(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<SamlConfigurationResponse> {
    return toSamlResponse(await this.configurations.disable(actor, id, 'saml'));
  }
}
