import { Controller, Get, Param, Post } from '@nestjs/common';
import { Origin, type RequestOrigin } from '../../infrastructure/http/index.js';
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
} from '../../infrastructure/pages/index.js';
import { ListSignInLinksQuery } from './sign-in-links.dto.js';
import { cancelPage, signInLinksPage } from './sign-in-links.pages.js';
import { SignInLinksService } from './sign-in-links.service.js';

/** The pages of the dashboard about sign-in links. */
@Controller(inEachEnvironment('sign-in-links'))
export class SignInLinksPagesController {
  constructor(private readonly links: SignInLinksService) {}

  /** Shows the links of the user in the query. Without a user, the page contains only the form. */
  @Get()
  @DashboardPage('listSignInLinks', ListSignInLinksQuery)
  async list(@Visit() { actor, environment, query }: PageVisit): Promise<PageResponse> {
    if (!query['external_user_id']) return signInLinksPage();
    return submitted(
      async () => {
        const request = queryFrom(ListSignInLinksQuery, query, { environment });
        return signInLinksPage(await this.links.list(actor, request));
      },
      () => signInLinksPage(),
    );
  }

  @Get(':id/cancel')
  @DashboardPage('cancelSignInLink')
  startCancelling(@Visit() { environment }: PageVisit, @Param('id') id: string): PageResponse {
    return cancelPage(environment, id);
  }

  /** @param visit.form `external_user_id`: the user whose links are shown next */
  @Post(':id/cancel')
  @DashboardAction('cancelSignInLink')
  async cancel(
    @Visit() { actor, environment, form }: PageVisit,
    @Param('id') id: string,
    @Origin() origin: RequestOrigin,
  ): Promise<PageResponse> {
    const { status } = await this.links.cancelFor(actor, id, origin, environment);
    const done = status === 'cancelled' ? status : 'ended';
    const query = new URLSearchParams({ external_user_id: form.get('external_user_id') ?? '', done });
    return { redirectTo: `${dashboardPath(environment, 'sign-in-links')}?${query}` };
  }
}
