import { Injectable, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  authenticationMethodsOf,
  grantTypesOf,
  messageAboutGrantType,
  TokenEndpoint,
  type Grant,
  type GrantClass,
} from './grant.js';
import { INVALID_CLIENT } from './oauth-errors.js';
import { ParameterField, type FormParameters } from './oauth-form.js';

class TicketParameters {
  @ParameterField('The ticket.', 'a')
  ticket!: string;
}

@Injectable()
class TicketGrant implements Grant<string, string, TicketParameters, string> {
  static readonly grantType = 'ticket';
  static readonly authentication = 'secret';
  readonly parameters = TicketParameters;

  clientOf(sender: string, { client_id: id }: FormParameters): string {
    if (id !== 'known') throw INVALID_CLIENT.error();
    return `known client of ${sender}`;
  }

  async issue(client: string, { ticket }: TicketParameters): Promise<string> {
    return `token for ${ticket} of ${client}`;
  }
}

@Injectable()
class SenderGrant implements Grant<string, string, object, string> {
  static readonly grantType = 'sender';
  static readonly authentication = 'none';
  readonly parameters = Object;

  async issue(client: string): Promise<string> {
    return `token of ${client}`;
  }
}

const GRANTS: readonly GrantClass<string, string>[] = [TicketGrant, SenderGrant];

@Module({ providers: [TokenEndpoint, ...GRANTS] })
class EndpointModule {}

describe('A list of grants', () => {
  it('has the metadata and the message about other grant types, which names those of public clients first', () => {
    expect(grantTypesOf(GRANTS)).toEqual(['ticket', 'sender']);
    expect(authenticationMethodsOf([...GRANTS, SenderGrant])).toEqual([
      'client_secret_basic',
      'client_secret_post',
      'none',
    ]);
    expect(messageAboutGrantType(GRANTS)).toBe('The grant type must be sender or ticket.');
  });
});

describe('TokenEndpoint', () => {
  let application: INestApplicationContext;
  beforeAll(async () => {
    application = await NestFactory.createApplicationContext(EndpointModule, { logger: false });
  });
  afterAll(() => application.close());

  const exchange = (form: FormParameters) =>
    application.get(TokenEndpoint).exchange(GRANTS, form, 'a sender');

  it('checks the grant type, the client and the parameters, in this order', async () => {
    await expect(exchange({})).rejects.toThrow('The grant type field is required.');
    await expect(exchange({ grant_type: 'other' })).rejects.toMatchObject({
      oauthCode: 'unsupported_grant_type',
      message: 'The grant type must be sender or ticket.',
    });
    await expect(exchange({ grant_type: 'ticket' })).rejects.toMatchObject({ oauthCode: 'invalid_client' });
    await expect(exchange({ grant_type: 'ticket', client_id: 'known' })).rejects.toThrow(
      'The ticket field is required.',
    );
  });

  it('returns the tokens of the grant for its client, or for the sender', async () => {
    expect(await exchange({ grant_type: 'ticket', client_id: 'known', ticket: 'a' })).toBe(
      'token for a of known client of a sender',
    );
    expect(await exchange({ grant_type: 'sender' })).toBe('token of a sender');
  });
});
