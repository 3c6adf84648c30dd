import { Controller, Get, Param, Redirect, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { DocumentationService } from './documentation.service.js';

/** The documentation site, which every HTTP process serves. */
@ApiExcludeController()
@Controller()
export class DocumentationController {
  constructor(private readonly documentation: DocumentationService) {}

  /** The dashboard, or the documentation if this process does not serve the dashboard. */
  @Get()
  @Redirect()
  root(): { url: string } {
    return this.documentation.start();
  }

  @Get('docs')
  home(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendHome(request, response);
  }

  @Get('docs/assets/:name')
  asset(@Param('name') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendAsset(name, request, response);
  }

  @Get('docs/downloads/:name')
  download(@Param('name') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendDownload(name, request, response);
  }

  @Get('docs/:name')
  page(@Param('name') name: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.documentation.sendPage(name, request, response);
  }
}
