import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import type { ApiError } from '../../infrastructure/errors/index.js';
import { PublicAddress } from '../../infrastructure/http/index.js';
import { ApiOperations } from './api-operations.js';
import type { Site } from './site.js';

/**
 * Sends the pages and files of the site. Loads the site at the first request, because its libraries take 60 ms and 11 MB,
 * which commands and workers do not need.
 */
@Injectable()
export class DocumentationService {
  private loading: Promise<Site> | undefined;

  constructor(
    private readonly configuration: ServiceConfiguration,
    private readonly address: PublicAddress,
    private readonly operations: ApiOperations,
  ) {}

  /** Where `/` leads: to the dashboard, if this process serves it. */
  start(): { url: string } {
    return { url: this.configuration.serves('dashboard') ? '/dashboard' : '/docs' };
  }

  async sendHome(request: Request, response: Response): Promise<void> {
    const site = await this.load();
    await site.home().send(request, response);
  }

  /** @throws ApiError NOT_FOUND if the site has no such page */
  async sendPage(name: string, request: Request, response: Response): Promise<void> {
    const site = await this.load();
    await site.page(name).send(request, response);
  }

  /** @throws ApiError NOT_FOUND if the site has no such file */
  async sendAsset(name: string, request: Request, response: Response): Promise<void> {
    const site = await this.load();
    await site.asset(name).send(request, response);
  }

  /** @throws ApiError NOT_FOUND if the site offers no such package */
  async sendDownload(name: string, request: Request, response: Response): Promise<void> {
    const site = await this.load();
    await site.download(name).send(request, response);
  }

  /** Sends a page about the error. Redirects addresses of the site that end with a slash. */
  async sendError(error: ApiError, request: Request, response: Response): Promise<void> {
    if (/^\/docs\/(?:[\w-]+\/)?$/.test(request.path)) {
      response.redirect(request.path.slice(0, -1));
      return;
    }
    const site = await this.load();
    const page = site.errorPage(error, request);
    response
      .status(error.status)
      .set({ ...error.headers, ...site.pageHeaders })
      .send(page);
  }

  private load(): Promise<Site> {
    return (this.loading ??= import('./site.js').then(
      ({ Site }) => new Site(this.configuration, this.address, this.operations),
    ));
  }
}
