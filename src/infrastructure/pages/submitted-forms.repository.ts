import { Injectable } from '@nestjs/common';
import { SecretDigest } from '../crypto/index.js';
import { Transaction } from '../database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../erasure/index.js';
import { SubmittedForm } from './submitted-form.entity.js';

/** A user of the client that an organization has in an environment. */
type NamedUser = Pick<ErasedUser, 'organizationId' | 'environment' | 'externalUserId'>;

@HoldsUserData('access')
@Injectable()
export class SubmittedFormsRepository implements UserDataHolder {
  constructor(
    private readonly transaction: Transaction,
    private readonly digest: SecretDigest,
  ) {}

  async eraseBatch(user: ErasedUser): Promise<number> {
    return (
      (await this.transaction.manager.delete(SubmittedForm, { userHash: this.hashOf(user) })).affected ?? 0
    );
  }

  hashOf({ organizationId, environment, externalUserId }: NamedUser): Buffer {
    return this.digest.of(JSON.stringify(['user of a form', organizationId, environment, externalUserId]));
  }

  /**
   * Reserves a form for one request.
   *
   * @param abandonedBefore when a form that is still being processed was received at the latest if its process has ended
   * @param abandoned when a form was received that has been processed for so long that its process has ended, whatever its clock said
   * @param forgottenBefore when a form with an outcome was received at the latest if it is processed again
   * @returns false if another request has reserved or processed it
   */
  async claim(
    formHash: Buffer,
    now: Date,
    abandonedBefore: Date,
    forgottenBefore: Date,
    abandoned?: Date,
  ): Promise<boolean> {
    const rows = await this.transaction.manager.query<unknown[]>(
      `INSERT INTO submitted_form (form_hash, created_at) VALUES ($1, $2)
       ON CONFLICT (form_hash) DO UPDATE SET created_at = $2, outcome_sealed = NULL
        WHERE submitted_form.created_at < CASE WHEN submitted_form.outcome_sealed IS NULL THEN $3::timestamptz ELSE $4::timestamptz END
           OR submitted_form.outcome_sealed IS NULL AND submitted_form.created_at = $5::timestamptz
       RETURNING form_hash`,
      [formHash, now, abandonedBefore, forgottenBefore, abandoned ?? null],
    );
    return rows.length === 1;
  }
}
