import { Body, Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { recentAdmin } from '../../audit-logs/index.js';
import {
  CreateSamlConfigurationRequest,
  SamlConfigurationResponse,
  UpdateSamlConfigurationRequest,
} from './saml-configurations.dto.js';
import { SamlConfigurationsService } from './saml-configurations.service.js';
import {
  LIST_CONFIGURATIONS,
  GET_CONFIGURATION,
  CREATE_CONFIGURATION,
  UPDATE_CONFIGURATION,
  ENABLE_CONFIGURATION,
  DISABLE_CONFIGURATION,
} from './saml-configurations.docs.js';

const ADMIN = { token: 'none', role: 'admin' } as const;

@Topic(
  'Single sign-on',
  'Your SAML identity providers. Requires a login. SAML single sign-on is not available for login yet: the configurations are stored for later use. Single sign-on with OpenID Connect is set up in the dashboard.',
)
@Controller()
export class SamlConfigurationsController {
  constructor(private readonly configurations: SamlConfigurationsService) {}

  @Get('saml-configurations')
  @DashboardOperation(LIST_CONFIGURATIONS, ADMIN)
  list(@CurrentActor() actor: DashboardActor): Promise<SamlConfigurationResponse[]> {
    return this.configurations.list(actor);
  }

  @Get('saml-configurations/:id')
  @DashboardOperation(GET_CONFIGURATION, ADMIN)
  get(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<SamlConfigurationResponse> {
    return this.configurations.get(actor, id);
  }

  @Post('saml-configurations/create')
  @DashboardOperation(CREATE_CONFIGURATION, recentAdmin('sso.add'))
  create(
    @CurrentActor() actor: DashboardActor,
    @Body() request: CreateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    return this.configurations.create(actor, request);
  }

  @Patch('saml-configurations/:id')
  @DashboardOperation(UPDATE_CONFIGURATION, recentAdmin('sso.update'))
  update(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
    @Body() request: UpdateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    return this.configurations.update(actor, id, request);
  }

  @Post('saml-configurations/:id/enable')
  @DashboardOperation(ENABLE_CONFIGURATION, recentAdmin('sso.enable'))
  enable(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<SamlConfigurationResponse> {
    return this.configurations.enable(actor, id);
  }

  @Post('saml-configurations/:id/disable')
  @DashboardOperation(DISABLE_CONFIGURATION, recentAdmin('sso.disable'))
  disable(
    @CurrentActor() actor: DashboardActor,
    @Param('id') id: string,
  ): Promise<SamlConfigurationResponse> {
    return this.configurations.disable(actor, id);
  }
}
