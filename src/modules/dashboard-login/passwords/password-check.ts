import { Injectable } from '@nestjs/common';
import { generatePassword, hashPassword, matchesHash } from '../../dashboard-users/index.js';

/** Compares passwords, in the same time whether there is one to compare with or not. */
@Injectable()
export class PasswordCheck {
  private dummy?: Promise<string>;

  /** @param passwordHash undefined where there is no account: it takes the same work to say no */
  async isCorrect(passwordHash: string | null | undefined, password: string): Promise<boolean> {
    this.dummy ??= hashPassword(generatePassword());
    const dummy = await this.dummy;
    const matches = await matchesHash(passwordHash ?? dummy, password);
    return matches && typeof passwordHash === 'string';
  }
}
