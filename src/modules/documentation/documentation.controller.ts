import { Controller, Get, Param, Redirect, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
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
  document(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendDocument('openapi.json', request, response);
  }

  @Get('openapi-3.0.json')
  documentOfVersion30(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendDocument('openapi-3.0.json', request, response);
  }

  @Get('openapi.yaml')
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

  @Get('docs/:name')
  page(@Param('name') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.send((site) => site.page(name), request, response);
  }
}
