import { Controller, Get, Post } from '@nestjs/common';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { PageRoute, Visit, type PageResponse, type PageVisit } from '../../../infrastructure/pages/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { DeviceApprovalsService } from '../authorizations/device-approvals.service.js';
import type { DeviceAuthorization } from '../authorizations/device-authorization.entity.js';
import type { Decision } from '../authorizations/device-authorizations.repository.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { codePage, confirmationPage, resultPage, unknownRequestPage } from './device.pages.js';

const ENTER_CODE_AGAIN: PageResponse = { redirectTo: '/device?done=undecided' };

/** Number of characters of a code that the page shows again. */
const SHOWN_CODE_LENGTH = 20;

const DECISIONS: ReadonlyMap<string, Decision['status']> = new Map([
  ['approve', 'approved'],
  ['deny', 'denied'],
]);

/** The pages on which a user approves or declines a device (RFC 8628, section 3.3). */
@Controller('device')
export class DevicePage {
  constructor(
    private readonly approvals: DeviceApprovalsService,
    private readonly clients: ApiClientDirectory,
    private readonly oauth: OAuthConfiguration,
  ) {}

  /** A code in the URL is ignored unless `verificationUriComplete` is on, because users should copy it from the device. */
  @Get()
  @PageRoute({ login: true })
  enter(@Visit() { query: { user_code: userCode } }: PageVisit): PageResponse {
    const isUsed = this.oauth.verificationUriComplete && typeof userCode === 'string';
    return codePage(isUsed ? userCode.slice(0, SHOWN_CODE_LENGTH) : '');
  }

  @Post()
  @PageRoute({ login: true, form: true })
  async lookUp(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    const entered = form.get('user_code') ?? '';
    const id = await this.approvals.enterCode(actor, entered);
    if (id === undefined) return codePage(entered.slice(0, SHOWN_CODE_LENGTH), true);
    return { redirectTo: `/device/confirm?request=${id}` };
  }

  @Get('confirm')
  @PageRoute({ login: true })
  async confirm(@Visit() { actor, query: { request: id } }: PageVisit): Promise<PageResponse> {
    // A user whose session ended before a form was submitted arrives here after the login, without the form's data.
    if (id === undefined) return ENTER_CODE_AGAIN;
    const request = await this.approvals.find(actor, id);
    if (!request) return unknownRequestPage();
    if (!this.approvals.isPending(request)) return { redirectTo: resultPath(request.id) };
    if (!this.approvals.isEnteredBy(actor, request)) return ENTER_CODE_AGAIN;
    const clientName = await this.clients.nameOf(request.clientId);
    return confirmationPage(request, this.approvals.userCodeOf(request), clientName);
  }

  @Post('confirm')
  @PageRoute({ login: true, form: true })
  async decide(@Visit() { actor, form }: PageVisit): Promise<PageResponse> {
    const request = await this.approvals.find(actor, form.get('request'));
    if (!request) return unknownRequestPage();
    const decision = decisionIn(form);
    if (this.approvals.isPending(request) && !this.approvals.isEnteredBy(actor, request))
      return ENTER_CODE_AGAIN;
    await this.approvals.decide(actor, request, decision);
    return { redirectTo: resultPath(request.id) };
  }

  @Get('result')
  @PageRoute({ login: true })
  async result(@Visit() { actor, query }: PageVisit): Promise<PageResponse> {
    const request = await this.approvals.find(actor, query['request']);
    if (!request) return unknownRequestPage();
    if (this.approvals.isPending(request)) return { redirectTo: `/device/confirm?request=${request.id}` };
    return resultPage(outcomeOf(request), request.userId !== actor.userId);
  }
}

function decisionIn(form: FormFields): Decision['status'] {
  const decision = DECISIONS.get(form.get('decision') ?? '');
  if (!decision) throw INVALID_FIELD.error('The decision is missing. Go back and choose again.');
  return decision;
}

function outcomeOf({ status }: DeviceAuthorization): 'approved' | 'denied' | 'expired' {
  if (status === 'pending') return 'expired';
  return status === 'denied' ? 'denied' : 'approved';
}

function resultPath(id: string): string {
  return `/device/result?request=${id}`;
}
