import { Controller, Get, Param, Redirect, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { OpenToOtherOrigins } from '../../infrastructure/http/index.js';
import type { Request, Response } from 'express';
import { DocumentationService } from './documentation.service.js';
import { SiteExceptionFilter } from './site-exception.filter.js';

/** The API document and the documentation site, which every HTTP process serves. */
@ApiExcludeController()
@UseFilters(SiteExceptionFilter)
@Controller()
export class DocumentationController {
  constructor(private readonly documentation: DocumentationService) {}

  /** The dashboard, or the documentation if this process does not serve the dashboard. */
  @Get()
  @Redirect()
  root(): { url: string } {
    return this.documentation.start();
  }

  @Get('openapi.json')
  @OpenToOtherOrigins()
  document(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendDocument('openapi.json', request, response);
  }

  @Get('openapi-3.0.json')
  @OpenToOtherOrigins()
  documentOfVersion30(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendDocument('openapi-3.0.json', request, response);
  }

  @Get('openapi.yaml')
  @OpenToOtherOrigins()
  documentAsYaml(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendDocument('openapi.yaml', request, response);
  }

  @Get('docs')
  home(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.send((site) => site.home(), request, response);
  }

  @Get('docs/assets/:name')
  asset(@Param('name') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.send((site) => site.asset(name), request, response);
  }

  @Get('docs/downloads/:name')
  download(@Param('name') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.send((site) => site.download(name), request, response);
  }

  @Get('docs/api/:topic')
  topic(@Param('topic') topic: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendPage(`api/${topic}`, request, response);
  }

  /** An address of an operation for links from elsewhere, which does not depend on how the reference is built. */
  @Get('docs/api/operations/:operation_id')
  @Redirect()
  operation(@Param('operation_id') id: string): Promise<{ url: string }> {
    return this.documentation.operation(id);
  }

  @Get('docs/:name')
  page(@Param('name') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendPage(name, request, response);
  }

  @Get('.well-known/security.txt')
  securityText(@Res() response: Response): void {
    this.documentation.sendSecurityText(response);
  }
}
