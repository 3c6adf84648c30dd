import { Injectable } from '@nestjs/common';
import { generatePassword, hashPassword, matchesHash } from '../../dashboard-users/index.js';

/** Compares a password with a hash. Takes equally long if there is no hash. */
@Injectable()
export class PasswordCheck {
  private dummy?: Promise<string>;

  /** @param passwordHash undefined or null when there is no account or no password yet */
  async isCorrect(passwordHash: string | null | undefined, password: string): Promise<boolean> {
    this.dummy ??= hashPassword(generatePassword());
    const dummy = await this.dummy;
    const matches = await matchesHash(passwordHash ?? dummy, password);
    return matches && typeof passwordHash === 'string';
  }
}
