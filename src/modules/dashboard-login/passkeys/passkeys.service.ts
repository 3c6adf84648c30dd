import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { LessThan, MoreThan, Not } from 'typeorm';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional, unlessOwnFailure } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { PublicAddress, rateLimitKeyOfAddress } from '../../../infrastructure/http/index.js';
import { lazyModule } from '../../../infrastructure/lazy-values/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { AuditLog, changesBetween } from '../../audit-logs/index.js';
import { DashboardUsersRepository } from '../../dashboard-users/index.js';
import { AccountEmails } from '../account-emails.js';
import type { LoginBrowser } from '../login-form.js';
import { DashboardSession } from '../sessions/dashboard-session.entity.js';
import { DashboardSessionsService } from '../sessions/dashboard-sessions.service.js';
import { Passkey, PasskeyChallenge } from './passkey.entity.js';

/** A valid response to a challenge, which the login uses up. */
export interface SignedChallenge {
  readonly challenge: Buffer;
  readonly browser: string;
  /** How often the passkey has signed, according to this response. */
  readonly counter: number;
  /** Whether the passkey can be copied to the other devices of its user, as password managers do. */
  readonly isSynced: boolean;
}

export const MAX_PASSKEYS = 20;
/** Milliseconds for which a page can use the challenge that it got. */
const CHALLENGE_LIFETIME = 10 * MINUTE;
/** ES256 and RS256, of which every authenticator supports one. Ed25519 is experimental in Node.js 20. */
const ALGORITHMS = [-7, -257];
/** Bytes of a credential ID (Web Authentication, section 4). */
const MAX_CREDENTIAL_ID_LENGTH = 1023;
/** Bytes. Enough for an RSA key of 4,096 bits; longer ones would make logins slow. */
const MAX_PUBLIC_KEY_LENGTH = 560;

export const TOO_MANY = `You have ${MAX_PASSKEYS} passkeys, which is the maximum. Remove one before you add another.`;
const NOT_SENT =
  'Your browser did not send a passkey. Passkeys require JavaScript and a browser that supports them.';
const NOT_ACCEPTED = 'The passkey was not accepted. Try again.';

/** Loading the library takes 0.3 s of CPU time and 24 MB, which processes without logins save. */
const webAuthn = lazyModule<typeof import('@simplewebauthn/server')>(
  '@simplewebauthn/server',
  import.meta.url,
);
const webAuthnHelpers = lazyModule<typeof import('@simplewebauthn/server/helpers')>(
  '@simplewebauthn/server/helpers',
  import.meta.url,
);

/** The response of a browser that used a passkey. Nothing of it is verified yet. */
export interface PasskeyResponse<Credential = AuthenticationResponseJSON> {
  readonly credential: Credential;
  readonly challenge: Buffer;
}

/** Passkeys: adding, renaming and removing them, and the verification of what they sign. */
@Injectable()
export class PasskeysService {
  private readonly challenges = this.limits.limit('passkey-challenge', { attempts: 300, within: HOUR });
  /** Each view of the login page counts. An office can share an address. */
  private readonly offers = this.limits.limit('passkey-offer', { attempts: 3_000, within: HOUR });

  constructor(
    private readonly transaction: Transaction,
    private readonly sessions: DashboardSessionsService,
    private readonly users: DashboardUsersRepository,
    private readonly limits: AttemptLimitsRepository,
    private readonly publicAddress: PublicAddress,
    private readonly emails: AccountEmails,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(userId: string): Promise<Passkey[]> {
    return this.transaction.manager.find(Passkey, {
      where: { userId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  async find({ userId }: DashboardActor, id: string): Promise<Passkey | null> {
    return this.transaction.findById(Passkey, { id, userId });
  }

  async count(userId: string): Promise<number> {
    return this.transaction.manager.countBy(Passkey, { userId });
  }

  /**
   * Returns whether the user has a passkey and must log in with it, because the organization requires two factors and the
   * session has one. Until then, the user must not add another factor: an attacker with the password could.
   */
  async mustBeUsed({ userId, lacksSecondFactor }: DashboardActor): Promise<boolean> {
    return lacksSecondFactor && (await this.count(userId)) > 0;
  }

  /**
   * Returns what the browser needs to log in with any passkey of this site.
   *
   * @param isOffer whether the page offers passkeys by itself
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async optionsToLogIn(
    { origin, browser }: LoginBrowser,
    isOffer = false,
  ): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const limit = isOffer ? this.offers : this.challenges;
    const address = rateLimitKeyOfAddress(origin.ip);
    const wait = await limit.count(address);
    if (wait !== undefined) throw tooManyAttempts(wait);
    const { generateAuthenticationOptions } = webAuthn();
    const options = await generateAuthenticationOptions({
      rpID: this.site.id,
      userVerification: 'required',
      timeout: CHALLENGE_LIFETIME,
    });
    await unlessOwnFailure(
      () => limit.subtract(address),
      () => this.storeChallenge(options.challenge, browserAsOwner(browser)),
    );
    return options;
  }

  /** Returns what the browser needs to create a passkey. @throws ApiError INVALID_FIELD */
  async optionsToAdd(actor: DashboardActor): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const passkeys = await this.list(actor.userId);
    if (passkeys.length >= MAX_PASSKEYS) throw INVALID_FIELD.error(TOO_MANY);
    const { generateRegistrationOptions } = webAuthn();
    const options = await generateRegistrationOptions({
      rpName: 'Merchant Connectivity',
      rpID: this.site.id,
      userID: new Uint8Array(userHandleOf(actor.userId)),
      userName: actor.email,
      userDisplayName: actor.name,
      timeout: CHALLENGE_LIFETIME,
      attestationType: 'none',
      excludeCredentials: passkeys.map(({ credentialId }) => ({ id: credentialId.toString('base64url') })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
    });
    await this.storeChallenge(options.challenge, sessionAsOwner(actor));
    return options;
  }

  /** @param json what the browser sent @throws ApiError INVALID_FIELD */
  async add(actor: DashboardActor, name: string, json: string | undefined): Promise<void> {
    if (json === undefined) throw INVALID_FIELD.error(NOT_SENT);
    const response = passkeyResponse<RegistrationResponseJSON>(json);
    const isOwn = response && (await this.consumeChallenge(response.challenge, sessionAsOwner(actor)));
    const created = isOwn ? await this.verifyCreation(response) : undefined;
    if (!created) throw INVALID_FIELD.error(NOT_ACCEPTED);
    await this.store(actor, name, created);
  }

  @Transactional()
  async rename(actor: DashboardActor, { id, name: before }: Passkey, name: string): Promise<void> {
    if (!(await this.transaction.updateRow(Passkey, { id, name: Not(name) }, { name }))) return;
    const changes = changesBetween({ name: before }, { name });
    await this.auditLog.record({ action: 'auth.passkey_rename', actor, target: { name }, changes });
  }

  /**
   * Also ends the other sessions that the passkey opened, and all access tokens and device approvals of the user: somebody else may
   * have added it.
   */
  @Transactional()
  async remove(actor: DashboardActor, { id, name }: Passkey): Promise<void> {
    const { session } = await this.sessions.lockUserOf(actor);
    await this.transaction.manager.delete(DashboardSession, { passkeyId: id, id: Not(session.id) });
    if (!(await this.transaction.deleteRow(Passkey, { id }))) return;
    await this.users.endAccess(actor.userId);
    await this.emails.sendNotice(actor.userId, 'passkeyRemoved');
    await this.auditLog.record({ action: 'auth.passkey_remove', actor, target: { name } });
  }

  /** Removes all passkeys of a user. An email notifies the user. @returns false if there were none */
  @Transactional()
  async removeAll(userId: string): Promise<boolean> {
    if ((await this.transaction.manager.delete(Passkey, { userId })).affected === 0) return false;
    await this.emails.sendNotice(userId, 'passkeyRemoved');
    return true;
  }

  /**
   * Removes the passkeys that the user added in logins that no owner had approved. An email notifies the user. Joins the open
   * transaction.
   *
   * @returns their names
   */
  async removeUnapproved(userId: string): Promise<readonly string[]> {
    const unapproved = (await this.list(userId)).filter(({ isOwnerApproved }) => !isOwnerApproved);
    if (unapproved.length === 0) return [];
    await this.transaction.manager.delete(Passkey, { userId, isOwnerApproved: false });
    await this.emails.sendNotice(userId, 'passkeyRemoved');
    return unapproved.map(({ name }) => name);
  }

  async named({ credential }: PasskeyResponse): Promise<Passkey | null> {
    const credentialId = Buffer.from(credential.id, 'base64url');
    return this.transaction.manager.findOneBy(Passkey, { credentialId });
  }

  /**
   * Verifies the response to a challenge for this browser. A response that is not valid uses up the challenge.
   *
   * @param passkey that the response names; null if there is none
   * @returns what `consume` and `accept` check and store; undefined if the response is not valid
   */
  async verify(
    response: PasskeyResponse,
    passkey: Passkey | null,
    browser: string,
  ): Promise<SignedChallenge | undefined> {
    const signed = passkey && (await this.verifySignature(response, passkey, browser));
    if (signed) return signed;
    await this.consumeChallenge(response.challenge, browserAsOwner(browser));
    return undefined;
  }

  private async verifySignature(
    { credential, challenge }: PasskeyResponse,
    passkey: Passkey,
    browser: string,
  ): Promise<SignedChallenge | undefined> {
    // The handle is not signed. One of another user still shows that something is wrong.
    const { userHandle } = credential.response;
    if (userHandle !== userHandleOf(passkey.userId).toString('base64url')) return undefined;
    const { verifyAuthenticationResponse } = webAuthn();
    const result = await unlessInvalid(() =>
      verifyAuthenticationResponse({
        response: credential,
        expectedChallenge: challenge.toString('base64url'),
        expectedOrigin: this.site.origin,
        expectedRPID: this.site.id,
        requireUserVerification: true,
        credential: { id: credential.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
      }),
    );
    if (!result?.verified) return undefined;
    const { newCounter, credentialDeviceType } = result.authenticationInfo;
    return { challenge, browser, counter: newCounter, isSynced: credentialDeviceType === 'multiDevice' };
  }

  /**
   * Uses up the challenge, in the transaction of the login: if the service fails, the browser can send the response again.
   *
   * @returns false if this browser did not get the challenge, or has used it
   */
  consume({ challenge, browser }: SignedChallenge): Promise<boolean> {
    return this.consumeChallenge(challenge, browserAsOwner(browser));
  }

  /**
   * Stores the counter of a login, in the transaction of the login. A counter that did not increase shows that the private key was
   * copied, unless the device does not count, or the key is meant to be on several devices, each of which counts for itself.
   *
   * @returns false if the counter did not increase, or the passkey was removed
   */
  async accept({ id }: Passkey, { counter, isSynced }: SignedChallenge): Promise<boolean> {
    const before = counter === 0 ? '0' : LessThan(String(counter));
    const changes = { counter: String(counter), usedAt: this.clock.now() };
    return this.transaction.updateRow(Passkey, { id, ...(!isSynced && { counter: before }) }, changes);
  }

  /** The origin and the relying party of passkeys. They depend on nothing that a request contains. */
  get site(): { readonly origin: string; readonly id: string } {
    // Browsers have no passkeys for IP addresses. Without a configured URL, the dashboard is also at this name.
    const url = this.publicAddress.of('dashboard').replace(/^http:\/\/127\.0\.0\.1\b/, 'http://localhost');
    const { origin, hostname } = new URL(url);
    return { origin, id: hostname };
  }

  private async storeChallenge(challenge: string, owner: Buffer): Promise<void> {
    const expiresAt = new Date(this.clock.milliseconds() + CHALLENGE_LIFETIME);
    await this.transaction.manager.insert(PasskeyChallenge, {
      challenge: Buffer.from(challenge, 'base64url'),
      owner,
      expiresAt,
    });
  }

  /** @returns whether the owner had this challenge; true for only one of several concurrent calls */
  private consumeChallenge(challenge: Buffer, owner: Buffer): Promise<boolean> {
    const unexpired = { challenge, owner, expiresAt: MoreThan(this.clock.now()) };
    return this.transaction.deleteRow(PasskeyChallenge, unexpired);
  }

  private async verifyCreation({
    credential,
    challenge,
  }: PasskeyResponse<RegistrationResponseJSON>): Promise<NewCredential | undefined> {
    const { verifyRegistrationResponse } = webAuthn();
    const result = await unlessInvalid(async () =>
      verifyRegistrationResponse({
        response: withoutAttestation(credential),
        expectedChallenge: challenge.toString('base64url'),
        expectedOrigin: this.site.origin,
        expectedRPID: this.site.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    );
    if (!result?.verified) return undefined;
    const { id, publicKey: key, counter } = result.registrationInfo.credential;
    const credentialId = Buffer.from(id, 'base64url');
    const publicKey = Buffer.from(key);
    const isStorable =
      credentialId.length <= MAX_CREDENTIAL_ID_LENGTH && publicKey.length <= MAX_PUBLIC_KEY_LENGTH;
    return isStorable ? { credentialId, publicKey, counter } : undefined;
  }

  @Transactional()
  private async store(
    actor: DashboardActor,
    name: string,
    { counter, ...created }: NewCredential,
  ): Promise<void> {
    const { userId } = actor;
    const { session } = await this.sessions.lockUserOf(actor);
    if ((await this.count(userId)) >= MAX_PASSKEYS) throw INVALID_FIELD.error(TOO_MANY, { field: 'name' });
    const id = randomUUID();
    const createdAt = this.clock.now();
    const { isOwnerApproved } = session;
    const passkey = { ...created, id, userId, counter: String(counter), name, isOwnerApproved, createdAt };
    if (!(await this.transaction.insertNew(Passkey, passkey, 'passkey_credential_id_key')))
      throw INVALID_FIELD.error(NOT_ACCEPTED);
    await this.emails.sendNotice(userId, 'passkeyAdded');
    await this.auditLog.record({ action: 'auth.passkey_add', actor, target: { name } });
  }
}

interface NewCredential extends Pick<Passkey, 'credentialId' | 'publicKey'> {
  readonly counter: number;
}

/** Reads what the browser sent as JSON. @returns undefined if the parts that name the passkey and the challenge are missing */
export function passkeyResponse<
  Credential extends { id: string; response: { clientDataJSON: string } } = AuthenticationResponseJSON,
>(json: string): PasskeyResponse<Credential> | undefined {
  try {
    const credential = JSON.parse(json) as Credential;
    const clientData = Buffer.from(credential.response.clientDataJSON, 'base64url').toString();
    const { challenge } = JSON.parse(clientData) as { challenge: unknown };
    if (typeof credential.id !== 'string' || typeof challenge !== 'string') return undefined;
    return { credential, challenge: Buffer.from(challenge, 'base64url') };
  } catch {
    return undefined;
  }
}

/**
 * Removes what the authenticator proves about its model. Nobody asked for it, but some authenticators send it, and the library would
 * request the revocation lists of certificates from the addresses in them, which an attacker could choose.
 */
function withoutAttestation(credential: RegistrationResponseJSON): RegistrationResponseJSON {
  const { decodeAttestationObject, isoCBOR } = webAuthnHelpers();
  const { attestationObject } = credential.response;
  const authData = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url'))).get(
    'authData',
  );
  const object = isoCBOR.encode(
    new Map<string, string | Map<string, never> | Uint8Array>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, never>()],
      ['authData', authData],
    ]),
  );
  const response = { ...credential.response, attestationObject: Buffer.from(object).toString('base64url') };
  return { ...credential, response };
}

/** The library throws an error for everything that is not valid. */
async function unlessInvalid<T>(verify: () => Promise<T>): Promise<T | undefined> {
  return verify().catch(() => undefined);
}

function browserAsOwner(browser: string): Buffer {
  return sha256(JSON.stringify(['browser', browser]));
}

function sessionAsOwner({ userId, credential }: DashboardActor): Buffer {
  const session = credential.kind === 'session' ? credential.sessionId : undefined;
  return sha256(JSON.stringify(['session', userId, session]));
}

/** Identifies the user to authenticators. Must not contain personal data (Web Authentication, section 14.6.1). */
function userHandleOf(userId: string): Buffer {
  return Buffer.from(userId.replaceAll('-', ''), 'hex');
}
