import { randomUUID } from 'node:crypto';
import { Controller, Get, Post } from '@nestjs/common';
import {
  DashboardAction,
  DashboardPage,
  dashboardPath,
  inEachEnvironment,
  queryFrom,
  submitted,
  Visit,
  type PageResponse,
  type PageVisit,
} from '../../../infrastructure/pages/index.js';
import { ResendQuery } from '../recoveries/resends.dto.js';
import { ResendsService } from '../recoveries/resends.service.js';
import { QUERY_FIELD, RESEND_ID_FIELD, resendPage, resendPlanPage } from './resend.pages.js';

/** The pages that send several failed deliveries again. */
@Controller(inEachEnvironment('events'))
export class ResendPagesController {
  constructor(private readonly resends: ResendsService) {}

  @Get('failed/send-again')
  @DashboardPage('redeliverWebhook')
  plan(@Visit() visit: PageVisit): Promise<PageResponse> {
    return submitted(
      () => this.planPage(visit, visit.query),
      () => resendPlanPage(visit.environment, undefined, '', visit.query),
    );
  }

  @Post('failed/send-again')
  @DashboardAction('redeliverWebhook')
  start(@Visit() visit: PageVisit): Promise<PageResponse> {
    const { actor, environment, form } = visit;
    const query = Object.fromEntries(new URLSearchParams(form.get(QUERY_FIELD)));
    const id = form.get(RESEND_ID_FIELD) ?? '';
    return submitted(
      async () => {
        await this.resends.start(actor, environment, id, resendQuery(visit, query));
        return { redirectTo: `${dashboardPath(environment, 'events', 'resends', id)}?done=started&live=on` };
      },
      () => this.planPage(visit, query),
    );
  }

  @Get('resends/:id')
  @DashboardPage('getWebhookRecovery')
  async get(@Visit() { actor, environment, params }: PageVisit<'id'>): Promise<PageResponse> {
    return resendPage(environment, await this.resends.get(actor, environment, params.id));
  }

  private async planPage(visit: PageVisit, query: PageVisit['query']): Promise<PageResponse> {
    const { actor, environment } = visit;
    const plan = await this.resends.plan(actor, environment, resendQuery(visit, query));
    return resendPlanPage(environment, plan, randomUUID(), visit.query);
  }
}

function resendQuery({ environment }: PageVisit, query: PageVisit['query']): ResendQuery {
  const { selected, from: _, ...filters } = query;
  // A list sends one parameter for each selected row.
  const selection = selected === undefined ? {} : { selected: [selected].flat().join(',') };
  return queryFrom(ResendQuery, filters, { environment, ...selection });
}
