import { Controller, Get, Post, Query } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { SecretDigest, Sealer } from '../../../infrastructure/crypto/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress, type FormFields } from '../../../infrastructure/http/index.js';
import { FormBody, PageRoute, type PageResponse } from '../../../infrastructure/pages/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import type { DeviceAuthorization } from '../authorizations/device-authorization.entity.js';
import {
  DeviceAuthorizationsRepository,
  type Visibility,
} from '../authorizations/device-authorizations.repository.js';
import {
  DeviceAuthorizationsService,
  digestOfUserCode,
  ownerOfUserCode,
  sessionIdOf,
} from '../authorizations/device-authorizations.service.js';
import { parseUserCode, formatUserCode } from '../authorizations/user-code.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { codePage, confirmationPage, resultPage, unknownRequestPage } from './device.pages.js';

const ENTER_CODE: PageResponse = { redirectTo: '/device' };

/** Number of characters of a code that the page shows again. */
const SHOWN_CODE_LENGTH = 20;

const DECISIONS = { approve: 'approved', deny: 'denied' } as const;

/**
 * The pages on which a user approves or declines a device (RFC 8628, section 3.3). A user finds only the requests of
 * the user's own organization, and decides only in the session that entered the code: otherwise, a link to the
 * confirmation page could trick another user into approving a device.
 */
@Controller('device')
export class DevicePagesController {
  /** Limits on wrong codes, per user and per IP address (RFC 8628, section 5.1). */
  private readonly perUser = this.limits.limit({
    name: 'user-code-of-user',
    attempts: 5,
    within: 15 * MINUTE,
  });
  private readonly perAddress = this.limits.limit({
    name: 'user-code-of-address',
    attempts: 20,
    within: HOUR,
  });

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly repository: DeviceAuthorizationsRepository,
    private readonly authorizations: DeviceAuthorizationsService,
    private readonly clients: ApiClientDirectory,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly configuration: ServiceConfiguration,
    private readonly oauth: OAuthConfiguration,
    private readonly clock: Clock,
  ) {}

  /**
   * @param userCode from the URL; ignored unless `verificationUriComplete` is on, because users should copy the code
   * from the device
   */
  @Get()
  @PageRoute({ login: true })
  enter(@Query('user_code') userCode: unknown): PageResponse {
    const isUsed = this.oauth.verificationUriComplete && typeof userCode === 'string';
    return codePage(isUsed ? userCode.slice(0, SHOWN_CODE_LENGTH) : '');
  }

  @Post()
  @PageRoute({ login: true, form: true })
  async lookUp(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    const attempts = [
      [this.perUser, actor.userId],
      [this.perAddress, rateLimitKeyOfAddress(actor.origin.ip)],
    ] as const;
    for (const [limit, subject] of attempts) {
      const wait = await limit.count(subject);
      if (wait !== undefined) throw tooManyAttempts(wait, 'Too many wrong codes.');
    }
    const entered = form.get('user_code') ?? '';
    const id = await this.enterCode(actor, entered);
    if (id === undefined) return codePage(entered.slice(0, SHOWN_CODE_LENGTH), true);
    for (const [limit, subject] of attempts) await limit.subtract(subject);
    return { redirectTo: `/device/confirm?request=${id}` };
  }

  @Get('confirm')
  @PageRoute({ login: true })
  async confirm(@CurrentActor() actor: DashboardActor, @Query('request') id: unknown): Promise<PageResponse> {
    // A user whose session ended before a form was submitted arrives here after the login, without the form's data.
    if (id === undefined) return ENTER_CODE;
    const request = await this.request(actor, id);
    if (!request) return unknownRequestPage();
    if (!this.isPending(request)) return { redirectTo: resultPath(request.id) };
    if (request.enteredInSession !== sessionIdOf(actor)) return ENTER_CODE;
    const userCode = this.sealer.open(request.userCodeSealed, ownerOfUserCode(request.id));
    const clientName = await this.clients.nameOf(request.clientId);
    return confirmationPage({ ...request, userCode: formatUserCode(userCode), clientName });
  }

  @Post('confirm')
  @PageRoute({ login: true, form: true })
  async decide(@CurrentActor() actor: DashboardActor, @FormBody() form: FormFields): Promise<PageResponse> {
    const request = await this.request(actor, form.get('request'));
    if (!request) return unknownRequestPage();
    const decision = decisionIn(form);
    if (this.isPending(request) && request.enteredInSession !== sessionIdOf(actor)) return ENTER_CODE;
    await this.authorizations.decide(request, actor, decision);
    return { redirectTo: resultPath(request.id) };
  }

  @Get('result')
  @PageRoute({ login: true })
  async result(@CurrentActor() actor: DashboardActor, @Query('request') id: unknown): Promise<PageResponse> {
    const request = await this.request(actor, id);
    if (!request) return unknownRequestPage();
    if (this.isPending(request)) return { redirectTo: `/device/confirm?request=${request.id}` };
    return resultPage({ outcome: outcomeOf(request), decidedByAnotherUser: request.userId !== actor.userId });
  }

  private async enterCode(actor: DashboardActor, entered: string): Promise<string | undefined> {
    const code = parseUserCode(entered);
    if (code === undefined) return undefined;
    const digest = digestOfUserCode(this.digest, code);
    const visibility = this.visibleTo(actor);
    return this.repository.enterUserCode(digest, sessionIdOf(actor), visibility, this.clock.now());
  }

  private async request(actor: DashboardActor, id: unknown): Promise<DeviceAuthorization | null> {
    return isUUID(id) ? this.repository.find(id as string, this.visibleTo(actor)) : null;
  }

  private visibleTo({ organizationId }: DashboardActor): Visibility {
    const environment = this.configuration.pinnedEnvironment;
    return { organizationId, environment };
  }

  private isPending({ status, expiresAt }: DeviceAuthorization): boolean {
    return status === 'pending' && expiresAt > this.clock.now();
  }
}

function decisionIn(form: FormFields): 'approved' | 'denied' {
  const decision = form.get('decision');
  if (decision !== 'approve' && decision !== 'deny') {
    throw INVALID_FIELD.error('The decision is missing. Go back and choose again.');
  }
  return DECISIONS[decision];
}

function outcomeOf({ status }: DeviceAuthorization): 'approved' | 'denied' | 'expired' {
  if (status === 'pending') return 'expired';
  return status === 'denied' ? 'denied' : 'approved';
}

function resultPath(id: string): string {
  return `/device/result?request=${id}`;
}
