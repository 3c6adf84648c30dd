import { Injectable } from '@nestjs/common';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { INVALID_CLIENT } from './oauth-errors.js';
import { requireField } from './oauth-form.js';

/** Identifies public clients, which send a `client_id` and cannot authenticate (RFC 6749, section 3.2.1). */
@Injectable()
export class OAuthClientsService {
  constructor(private readonly directory: ApiClientDirectory) {}

  /** @throws OAuthError `invalid_request` without a `client_id`, `invalid_client` for an unknown one */
  async identify(form: FormFields): Promise<ClientRecord> {
    const client = await this.directory.find(requireField(form, 'client_id'));
    if (!client) throw INVALID_CLIENT.error();
    return client;
  }
}
