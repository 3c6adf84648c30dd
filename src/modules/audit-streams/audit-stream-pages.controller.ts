import { Controller, Get, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import type { FormFields } from '../../infrastructure/http/index.js';
import {
  DashboardAction,
  DashboardPage,
  FormBody,
  requestFrom,
  requireUnchanged,
  submitted,
  type PageResponse,
} from '../../infrastructure/pages/index.js';
import { changeableOf, STREAM_PATH, streamPage } from './audit-stream.pages.js';
import { AuditStreamRequest } from './audit-streams.dto.js';
import { AuditStreamsService } from './audit-streams.service.js';

@Controller(STREAM_PATH.slice(1))
export class AuditStreamPagesController {
  constructor(private readonly streams: AuditStreamsService) {}

  @Get()
  @DashboardPage('getAuditStream')
  async show(@CurrentActor() { organizationId }: DashboardActor): Promise<PageResponse> {
    return streamPage(await this.streams.find(organizationId));
  }

  @Post()
  @DashboardAction('updateAuditStream')
  change(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    return submitted(
      async () => {
        await this.streams.configure(actor, requestFrom(AuditStreamRequest, form), (current) =>
          requireUnchanged(form, changeableOf(current)),
        );
        return { redirectTo: `${STREAM_PATH}?done=saved` };
      },
      () => this.show(actor),
    );
  }

  @Post('remove')
  @DashboardAction('deleteAuditStream')
  async remove(@CurrentActor() actor: DashboardActor): Promise<PageResponse> {
    await this.streams.remove(actor);
    return { redirectTo: `${STREAM_PATH}?done=removed` };
  }
}
