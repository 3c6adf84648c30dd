import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { decodeJwt } from 'jose';
import { IsNull, Not } from 'typeorm';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { sha256 } from '../../infrastructure/crypto/index.js';
import { Transaction, type Check } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import {
  clientAddress,
  PublicAddress,
  requestContext,
  type AttributedClient,
} from '../../infrastructure/http/index.js';
import { IssuedTokens } from '../../infrastructure/issued-tokens/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyVerifier, clientOfKey } from './api-key-verifier.js';
import { isActive } from './api-keys.service.js';
import { IssuerKeys, RefusedAssertion } from './issuer-keys.js';
import {
  checkRules,
  problemWithSubject,
  type AssertionClaims,
  type CheckedRule,
  type KeyTrust,
} from './key-trust.js';
import { UsedAssertion } from './used-assertion.entity.js';

type TrustingKey = ApiKey & { readonly trust: KeyTrust };

/** Accepts the tokens of other issuers in place of API keys (RFC 7523). */
@Injectable()
export class AssertionsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly issuers: IssuerKeys,
    private readonly verifier: ApiKeyVerifier,
    private readonly tokens: IssuedTokens,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
  ) {}

  /** The URL of the token endpoint, which is also the default audience of tokens. */
  get tokenEndpoint(): string {
    return `${this.address.of('dashboard')}/oauth/token`;
  }

  /**
   * Returns the client with the key that trusts the token. The client's request log says why a token is not accepted.
   *
   * @param check throws an error if the request asks for more than the key has: the token can then be sent again
   * @returns undefined if the token is not accepted
   */
  async authenticate(
    client: AttributedClient,
    assertion: string,
    request: Request,
    check: Check<AuthenticatedClient>,
  ): Promise<AuthenticatedClient | undefined> {
    try {
      const issuer = issuerOf(assertion);
      const keys = (await this.trustingKeys(client.clientId)).filter(({ trust }) => trust.issuer === issuer);
      if (issuer === undefined)
        throw new RefusedAssertion('The token is malformed: it is not a JWT that names its issuer.');
      if (keys.length === 0) throw new RefusedAssertion('No API key trusts the issuer of the token.');
      return await this.accept(keys, await this.issuers.claimsOf(issuer, assertion), request, check);
    } catch (error) {
      if (!(error instanceof RefusedAssertion)) throw error;
      const refusal = `${error.message} The request came from ${clientAddress(request)}.`;
      Object.assign(requestContext(request), { client, refusal });
      return undefined;
    }
  }

  /** Checks a token without using it up. */
  async check(trust: KeyTrust, assertion: string): Promise<CheckedRule[]> {
    const rule = `A key of ${trust.issuer} has signed the token`;
    try {
      const claims = await this.issuers.claimsOf(trust.issuer, assertion);
      return [{ rule }, ...this.rules(trust, claims)];
    } catch (error) {
      if (error instanceof RefusedAssertion) return [{ rule, problem: error.message }];
      throw error;
    }
  }

  /** @throws ApiError INVALID_FIELD if a key cannot have the trust */
  requireUsable({ issuer, subject }: KeyTrust): void {
    const ofIssuer = this.issuers.problemWith(issuer);
    if (ofIssuer !== undefined) throw INVALID_FIELD.error(ofIssuer, { field: 'issuer' });
    const ofSubject = problemWithSubject(subject);
    if (ofSubject !== undefined) throw INVALID_FIELD.error(ofSubject, { field: 'subject' });
  }

  private async accept(
    keys: readonly TrustingKey[],
    claims: AssertionClaims,
    request: Request,
    check: Check<AuthenticatedClient>,
  ): Promise<AuthenticatedClient> {
    const checked = keys
      .map((key) => ({ key, broken: this.rules(key.trust, claims).filter(({ problem }) => problem) }))
      .toSorted((left, right) => left.broken.length - right.broken.length);
    const [{ key, broken }] = checked as [(typeof checked)[number]];
    const [first] = broken;
    if (first)
      throw new RefusedAssertion(
        `The token does not match the API key “${key.name}”: ${first.rule}. ${first.problem}`,
      );
    const client = clientOfKey(await this.verifier.identifyById(key.id, key.scopes, request));
    if (!client) throw new RefusedAssertion(`The API key “${key.name}” is not accepted from this address.`);
    check(client);
    await this.useUp(claims);
    this.tokens.recordUse(ApiKey, key, clientAddress(request));
    return client;
  }

  private rules(trust: KeyTrust, claims: AssertionClaims): CheckedRule[] {
    return checkRules(trust, claims, this.tokenEndpoint, this.clock.milliseconds());
  }

  /** Uses up a token. If several requests send it, also to several processes, one succeeds. */
  private async useUp({ iss, jti, exp }: AssertionClaims): Promise<void> {
    if (jti === undefined) return;
    const used = { digest: sha256(JSON.stringify([iss, jti])), expiresAt: new Date(Number(exp) * SECOND) };
    if (!(await this.transaction.insertNew(UsedAssertion, used, 'used_assertion_pkey')))
      throw new RefusedAssertion('The token was used before. Each token is accepted once.');
  }

  private async trustingKeys(clientId: string): Promise<TrustingKey[]> {
    const where = { clientId, revokedAt: IsNull(), trust: Not(IsNull()) };
    const now = this.clock.now();
    const keys = await this.transaction.manager.find(ApiKey, {
      where,
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    return keys.filter((key): key is TrustingKey => key.trust !== null && isActive(key, now));
  }
}

function issuerOf(assertion: string): string | undefined {
  try {
    return decodeJwt(assertion).iss;
  } catch {
    return undefined;
  }
}
