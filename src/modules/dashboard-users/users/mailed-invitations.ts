import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { Mailer } from '../../../infrastructure/mail/index.js';
import { Invitations, type Invited } from './invitations.js';

/** Provisional, to be replaced by the links with which people set their passwords: a mail without a link. */
@Injectable()
export class MailedInvitations extends Invitations {
  constructor(
    private readonly mailer: Mailer,
    private readonly address: PublicAddress,
  ) {
    super();
  }

  async invite({ email, name }: Invited): Promise<void> {
    await this.mailer.send({
      to: email,
      subject: 'You were invited to the dashboard',
      text: `Hello ${name},\n\nyou were invited to the dashboard: ${this.address.of('dashboard')}\n`,
    });
  }
}
