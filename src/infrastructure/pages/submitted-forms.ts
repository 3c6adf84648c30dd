import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Sealer, SecretDigest } from '../crypto/index.js';
import { Transaction } from '../database/index.js';
import { FormFields } from '../http/index.js';
import { Clock, MINUTE, SECOND } from '../time/index.js';
import { browserOf } from './form-tokens.js';
import { PAGE_TOKEN_FIELD } from './parts/form.js';
import { REPEATED_FOR, SubmittedForm, SubmittedFormsRepository } from './submitted-forms.repository.js';

/** Milliseconds after which a form without an outcome was lost with its process. No form takes as long. */
const ABANDONED_AFTER = MINUTE;
const FIRST_PAUSE = 25;
const LONGEST_PAUSE = SECOND / 2;

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
  constructor(
    private readonly repository: SubmittedFormsRepository,
    private readonly transaction: Transaction,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Does the work for the first of several equal forms, and again for the next one if the response to the first was an error. */
  async once<Body extends string | StreamableFile>(
    form: readonly string[] | undefined,
    response: Response,
    work: () => Promise<Body>,
  ): Promise<Body | string> {
    if (form === undefined) return work();
    const formHash = this.digest.of(JSON.stringify(['submitted form', ...form]));
    const owner = ['submitted_form', formHash.toString('hex')];
    const forms = this.transaction.manager.getRepository(SubmittedForm);
    for (let wait = FIRST_PAUSE; !(await this.claim(formHash)); wait = Math.min(2 * wait, LONGEST_PAUSE)) {
      // Null while the form is being processed.
      const sealed = (await forms.findOneBy({ formHash }))?.outcomeSealed;
      if (sealed) return repeat(JSON.parse(this.sealer.open(sealed, owner)) as Outcome, response);
      await pause(wait);
    }
    const headersBefore = { ...response.getHeaders() };
    let body: Body | undefined;
    try {
      body = await work();
      return body;
    } finally {
      const outcome = body === undefined ? undefined : outcomeOf(response, headersBefore, body);
      const kept = outcome
        ? forms.update({ formHash }, { outcomeSealed: this.sealer.seal(JSON.stringify(outcome), owner) })
        : forms.delete({ formHash });
      // The form was processed, whatever happens to this row.
      await kept.catch(() => undefined);
    }
  }

  private claim(formHash: Buffer): Promise<boolean> {
    const now = this.clock.now();
    const before = (age: number): Date => new Date(now.getTime() - age);
    return this.repository.claim(formHash, now, before(ABANDONED_AFTER), before(REPEATED_FOR));
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
