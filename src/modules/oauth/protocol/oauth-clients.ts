import { Injectable } from '@nestjs/common';
import type { FormFields } from '../../../infrastructure/http/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { unknownClient } from './oauth-errors.js';
import { requireField } from './oauth-form.js';

/** Public clients, who say who they are and cannot prove it (RFC 6749, section 3.2.1). */
@Injectable()
export class OAuthClients {
  constructor(private readonly directory: ApiClientDirectory) {}

  /** @throws ApiError (`invalid_request`, `invalid_client`) when the form names no client that exists here */
  async namedIn(form: FormFields): Promise<ClientRecord> {
    const client = await this.directory.find(requireField(form, 'client_id'));
    if (!client) throw unknownClient();
    return client;
  }
}
