import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { Origin, type FormFields, type RequestOrigin } from '../../infrastructure/http/index.js';
import { FormBody, PageRoute, type PageResponse } from '../../infrastructure/pages/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { MAX_ATTEMPTS, statusOf } from './sign-in-links.service.js';
import { SignInService, type AttemptResult, type OpenedLink } from './sign-in.service.js';
import {
  codePage,
  credentialsPage,
  noticePage,
  unknownLinkPage,
  type LinkNotice,
  type SignInPageData,
} from './sign-in.pages.js';

/**
 * The pages that a sign-in link opens. The path contains the token. Logs, traces and metrics contain the template of the route
 * instead.
 */
@Controller('sign-in/:token')
export class SignInPagesController {
  constructor(
    private readonly signIns: SignInService,
    private readonly clock: Clock,
  ) {}

  /** @param query `done`: the action that the user just completed. `again`: show the credentials form instead of the code form */
  @Get()
  @PageRoute({ surface: 'connector', login: false })
  async show(
    @Param('token') token: string,
    @Query() { done, again }: Record<string, unknown>,
  ): Promise<PageResponse> {
    const link = await this.signIns.find(token);
    const opened = link && (await this.signIns.open(link));
    if (!opened) return unknownLinkPage();
    const data = pageDataOf(opened, token, this.clock.now());
    const notice = this.noticeOf(opened);
    if (notice) return noticePage(data, notice, done === notice);
    return opened.challenge && again === undefined ? codePage(data) : credentialsPage(data);
  }

  @Post()
  @PageRoute({ surface: 'connector', login: false, form: true })
  async submit(
    @Param('token') token: string,
    @FormBody() form: FormFields,
    @Origin() { ip }: RequestOrigin,
  ): Promise<PageResponse> {
    const link = await this.signIns.find(token);
    await this.signIns.countForm(link, ip);
    const opened = link && (await this.signIns.open(link));
    if (!opened) return unknownLinkPage();
    if (this.noticeOf(opened)) return { redirectTo: pathOf(token) };
    const data = pageDataOf(opened, token, this.clock.now());
    switch (form.get('action')) {
      case 'decline':
        await this.signIns.decline(opened);
        return { redirectTo: `${pathOf(token)}?done=cancelled` };
      case 'code':
        return this.submitCode(opened, data, form);
      default:
        return this.submitCredentials(opened, data, form);
    }
  }

  private async submitCredentials(
    opened: OpenedLink,
    data: SignInPageData,
    form: FormFields,
  ): Promise<PageResponse> {
    // Keyboards of phones add a space after a word.
    const userName = (form.get('user_name') ?? '').trim();
    const password = form.get('password') ?? '';
    if (userName === '' || password === '') return credentialsPage(data, { userName, isMissing: true });
    const result = await this.signIns.signIn(opened, { userName, password });
    return afterAttempt(data, result, (attemptsLeft) => credentialsPage(data, { userName, attemptsLeft }));
  }

  private async submitCode(
    opened: OpenedLink,
    data: SignInPageData,
    form: FormFields,
  ): Promise<PageResponse> {
    const code = (form.get('code') ?? '').replaceAll(/\s/g, '');
    if (code === '') return codePage(data, { isMissing: true });
    const result = await this.signIns.submitCode(opened, code);
    return afterAttempt(data, result, (attemptsLeft) => codePage(data, { attemptsLeft }));
  }

  /** Returns the notice that the page shows instead of a form, or undefined if the link can be used. */
  private noticeOf({ link, isAvailable }: OpenedLink): LinkNotice | undefined {
    const status = statusOf(link, this.clock.now());
    const hasNoAttempts = link.attempts >= MAX_ATTEMPTS;
    if (status === 'failed') return hasNoAttempts ? 'tooManyAttempts' : 'denied';
    if (status !== 'pending') return status;
    if (hasNoAttempts) return 'noAttemptsLeft';
    return isAvailable ? undefined : 'unavailable';
  }
}

function afterAttempt(
  data: SignInPageData,
  attempt: AttemptResult,
  formAgain: (attemptsLeft: number) => PageResponse,
): PageResponse {
  if (attempt.result === 'incorrect') return formAgain(attempt.attemptsLeft);
  if (attempt.result === 'unknown') return noticePage(data, 'noResponse', false);
  const { path } = data;
  return { redirectTo: attempt.result === 'succeeded' ? `${path}?done=completed` : path };
}

function pageDataOf(
  { link, merchant, organization, challenge }: OpenedLink,
  token: string,
  now: Date,
): SignInPageData {
  const { environment, expiresAt } = link;
  return {
    path: pathOf(token),
    organization,
    merchant: merchant.name,
    environment,
    expiresAt,
    now,
    codeHint: challenge?.hint,
  };
}

function pathOf(token: string): string {
  return `/sign-in/${encodeURIComponent(token)}`;
}
