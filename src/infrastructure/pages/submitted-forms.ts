import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { DashboardIdentity } from '../auth/index.js';
import { Sealer, SecretDigest } from '../crypto/index.js';
import { Transaction } from '../database/index.js';
import { BackgroundTasks, environmentOf, FormFields } from '../http/index.js';
import { Clock, MINUTE, SECOND } from '../time/index.js';
import { browserOf } from './form-tokens.js';
import { PAGE_TOKEN_FIELD } from './parts/form.js';
import { SubmittedFormsRepository } from './submitted-forms.repository.js';
import { REPEATED_FOR, SubmittedForm } from './submitted-form.entity.js';

/** Milliseconds after which a form without an outcome was lost with its process. No form takes as long. */
const ABANDONED_AFTER = MINUTE;
/** Attempts to store a response, one per second. */
const STORE_ATTEMPTS = 30;
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = SECOND / 2;

/** The field and parameter in which the dashboard names users. */
const USER = 'external_user_id';

/** Characters. The pages that follow a form are much shorter. */
const MAX_BODY_LENGTH = 262_144;

interface Outcome {
  readonly status: number;
  /** The headers that the page set. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

/** Which requests of a route count as the same. */
export interface RepeatOptions {
  /** Whether the form comes from another site. The browser then sends no cookies. */
  readonly fromOtherSites?: boolean;
  /** Whether the request contains a secret that works once, so that an equal request is the same one. */
  readonly isOneTime?: boolean;
}

/** Returns what is equal in a request that the browser sends again; undefined if the request is processed each time. */
export function repeatedPartOf(request: Request, options: RepeatOptions): readonly string[] | undefined {
  const form = request.body instanceof FormFields ? request.body : undefined;
  const sent = [request.method, request.originalUrl, ...(form?.contents() ?? [])];
  if (options.fromOtherSites) return sent;
  const browser = browserOf(request);
  const isOfOnePage = form?.get(PAGE_TOKEN_FIELD) !== undefined;
  return browser !== undefined && (options.isOneTime || isOfOnePage) ? [browser, ...sent] : undefined;
}

/**
 * Processes a form once if the browser sends it again: after a second click, or when the user reloads a page because the
 * response was lost. Every request gets the response to the first: docs/decisions/0038-forms-sent-twice.md.
 */
@Injectable()
export class SubmittedForms {
  private readonly logger = new Logger('Pages');

  constructor(
    private readonly repository: SubmittedFormsRepository,
    private readonly transaction: Transaction,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly tasks: BackgroundTasks,
    private readonly clock: Clock,
  ) {}

  /**
   * Does the work for the first of several equal forms, and again for the next one if the response to the first was an error.
   *
   * @param isStored whether a copy of the response may be kept. Otherwise, the work is done again for the next one, too.
   */
  async once<Body extends string | StreamableFile>(
    form: readonly string[] | undefined,
    response: Response,
    work: () => Promise<Body>,
    isStored: () => boolean = () => true,
  ): Promise<Body | string> {
    if (form === undefined) return work();
    const formHash = this.digest.of(JSON.stringify(['submitted form', ...form]));
    const owner = ['submitted_form', formHash.toString('hex')];
    const forms = this.transaction.manager.getRepository(SubmittedForm);
    let waitsFor: { readonly createdAt: Date; readonly since: number } | undefined;
    const abandoned = (): Date | undefined =>
      waitsFor && this.clock.monotonic() - waitsFor.since > ABANDONED_AFTER ? waitsFor.createdAt : undefined;
    for (
      let wait = FIRST_PAUSE;
      !(await this.claim(formHash, abandoned()));
      wait = Math.min(2 * wait, LONGEST_PAUSE)
    ) {
      const stored = await forms.findOneBy({ formHash });
      // Null while the form is being processed.
      const sealed = stored?.outcomeSealed;
      if (sealed) return repeat(JSON.parse(this.sealer.open(sealed, owner)) as Outcome, response);
      if (stored && stored.createdAt.getTime() !== waitsFor?.createdAt.getTime())
        waitsFor = { createdAt: stored.createdAt, since: this.clock.monotonic() };
      await pause(wait);
    }
    const headersBefore = { ...response.getHeaders() };
    let body: Body | undefined;
    try {
      body = await work();
      return body;
    } finally {
      const outcome =
        body === undefined || !isStored() ? undefined : outcomeOf(response, headersBefore, body);
      const stored = outcome && {
        outcomeSealed: this.sealer.seal(JSON.stringify(outcome), owner),
        userHash: this.userHashOf(response.req, outcome),
      };
      const store = (): Promise<unknown> =>
        stored ? forms.update({ formHash }, stored) : forms.delete({ formHash });
      // The form was processed, whatever happens to this row: the response does not wait for it longer.
      await store().catch(() => this.tasks.begin(() => this.storeLater(store)));
    }
  }

  /** Repeats what failed, because a form without its outcome would be processed again if it is sent again. */
  private async storeLater(store: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await pause(SECOND, undefined, { ref: false });
      try {
        await store();
        return;
      } catch (error) {
        if (attempt < STORE_ATTEMPTS) continue;
        this.logger.error(
          'The outcome of a form could not be stored: sent again, it is processed again',
          error,
        );
        return;
      }
    }
  }

  /** Returns null unless the form, its address or the address that it led to names a user. */
  private userHashOf({ user, path, query, body }: Request, { headers }: Outcome): Buffer | null {
    const { organizationId } = (user ?? {}) as Partial<DashboardIdentity>;
    if (!organizationId) return null;
    const next = new URL(String(headers['location'] ?? ''), 'http://none.invalid');
    const environment = environmentOf(next.pathname) ?? environmentOf(path);
    const named = [next.searchParams.get(USER), body instanceof FormFields && body.get(USER), query[USER]];
    const externalUserId = named.find((name) => typeof name === 'string' && name !== '') as
      string | undefined;
    if (!environment || externalUserId === undefined) return null;
    return this.repository.hashOf({ organizationId, environment, externalUserId });
  }

  private claim(formHash: Buffer, abandoned: Date | undefined): Promise<boolean> {
    const now = this.clock.now();
    const before = (age: number): Date => new Date(now.getTime() - age);
    return this.repository.claim(formHash, now, before(ABANDONED_AFTER), before(REPEATED_FOR), abandoned);
  }
}

/** @returns undefined for a response that is not repeated */
function outcomeOf(
  response: Response,
  headersBefore: Readonly<Record<string, unknown>>,
  body: string | StreamableFile,
): Outcome | undefined {
  const status = response.statusCode;
  if (status >= 400 || typeof body !== 'string' || body.length > MAX_BODY_LENGTH) return undefined;
  const headers = Object.entries(response.getHeaders() as Outcome['headers']).filter(
    ([name, value]) => headersBefore[name] !== value,
  );
  return { status, headers: Object.fromEntries(headers), body };
}

function repeat({ status, headers, body }: Outcome, response: Response): string {
  response.status(status);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  return body;
}
