import { Body, Controller, Get, Header, Patch, Post, Req, type StreamableFile } from '@nestjs/common';
import type { Request } from 'express';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { BYTES, LOGO_MEDIA_TYPES } from './logo.js';
import { OrganizationResponse, UpdateLogoRequest, UpdateOrganizationRequest } from './organization.dto.js';
import {
  GET_ORGANIZATION,
  UPDATE_ORGANIZATION,
  ACTIVATE_ORGANIZATION,
  UPDATE_LOGO,
  GET_LOGO,
} from './organization.docs.js';
import { OrganizationsService } from './organizations.service.js';

@Topic('Organization', 'Your organization and its logo. Requires a login.')
@Controller()
export class OrganizationController {
  constructor(private readonly organizations: OrganizationsService) {}

  @Get('organization')
  @DashboardOperation(GET_ORGANIZATION)
  get(@CurrentActor() actor: DashboardActor): Promise<OrganizationResponse> {
    return this.organizations.get(actor);
  }

  @Patch('organization')
  @DashboardOperation(UPDATE_ORGANIZATION)
  update(
    @CurrentActor() actor: DashboardActor,
    @Body() request: UpdateOrganizationRequest,
  ): Promise<OrganizationResponse> {
    return this.organizations.update(actor, request);
  }

  @Post('organization/activate')
  @DashboardOperation(ACTIVATE_ORGANIZATION)
  activate(@CurrentActor() actor: DashboardActor): Promise<OrganizationResponse> {
    return this.organizations.activate(actor);
  }

  @Post('organization/logo')
  @DashboardOperation(UPDATE_LOGO)
  updateLogo(
    @CurrentActor() actor: DashboardActor,
    @Body() request: UpdateLogoRequest,
  ): Promise<OrganizationResponse> {
    return this.organizations.updateLogo(actor, request.image);
  }

  // A user uploaded the image: browsers must not execute anything in it.
  @Get('organization/logo')
  @Header('Content-Security-Policy', "default-src 'none'; sandbox")
  @DashboardOperation(GET_LOGO)
  logo(@CurrentActor() actor: DashboardActor, @Req() request: Request): Promise<StreamableFile> {
    return this.organizations.logo(actor, request.accepts([...LOGO_MEDIA_TYPES, BYTES]));
  }
}
