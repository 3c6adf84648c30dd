import { Injectable, type PipeTransform } from '@nestjs/common';
import type { PageVisit } from '../../../infrastructure/pages/index.js';
import { WebhookEndpointsService, type OwnedWebhookEndpoint } from '../webhook-endpoints.service.js';

/** What a page about one endpoint was requested with. */
export interface EndpointVisit extends PageVisit<'id'> {
  readonly endpoint: OwnedWebhookEndpoint;
}

/** Finds the endpoint in the path of a page, in the environment that the page shows. */
@Injectable()
export class EndpointPipe implements PipeTransform<PageVisit<'id'>, Promise<EndpointVisit>> {
  constructor(private readonly endpoints: WebhookEndpointsService) {}

  async transform(visit: PageVisit<'id'>): Promise<EndpointVisit> {
    const { actor, environment, params } = visit;
    return { ...visit, endpoint: await this.endpoints.requireIn(actor, environment, params.id) };
  }
}
