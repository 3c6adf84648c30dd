import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** Values that an attacker may change in the data that a browser and an authenticator sign. */
export interface Deviations {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly isUserVerified?: boolean;
  readonly isUserPresent?: boolean;
  readonly counter?: number;
  /** The passkey can be copied to other devices of its user. */
  readonly isSynced?: boolean;
  readonly userHandle?: string | undefined;
  readonly credentialId?: string;
  /** Another key signs. */
  readonly key?: KeyObject;
  /** The attestation format and statement, as CBOR. */
  readonly attestation?: readonly [format: string, statement: Buffer];
  /** The identifier of the signature algorithm that the public key names. */
  readonly algorithm?: number;
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const base64url = (data: string | Buffer): string => Buffer.from(data).toString('base64url');

/** A string or bytes of CBOR (RFC 8949) with a length below 65,536. */
export function cbor(data: string | Buffer): Buffer {
  const major = typeof data === 'string' ? 0x60 : 0x40;
  const bytes = Buffer.from(data);
  const { length } = bytes;
  const head =
    length < 24
      ? [major | length]
      : length < 256
        ? [major | 24, length]
        : [major | 25, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** A negative integer of CBOR, from -1 to -256. */
const negative = (value: number): Buffer =>
  Buffer.from(value < -24 ? [0x38, -1 - value] : [0x20 | (-1 - value)]);

/** A browser with an authenticator in software (Web Authentication, Level 3), with one passkey. */
export class Authenticator {
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly credentialId = base64url(randomBytes(32));
  private userHandle: string | undefined;
  private counter = 0;

  /** @param origin the origin of the page */
  constructor(private readonly origin: string) {}

  get privateKey(): KeyObject {
    return this.keys.privateKey;
  }

  /** Returns what `navigator.credentials.create()` returns, as JSON. */
  create({ challenge, rp, user }: CreationOptions, deviations: Deviations = {}): string {
    this.userHandle = user.id;
    const clientDataJSON = this.clientData('webauthn.create', challenge, deviations);
    const id = Buffer.from(deviations.credentialId ?? this.credentialId, 'base64url');
    const credential = Buffer.concat([
      Buffer.alloc(16),
      Buffer.from([id.length >> 8, id.length & 255]),
      id,
      this.publicKey(deviations.algorithm ?? -7),
    ]);
    const data = Buffer.concat([this.authenticatorData(rp.id, 0x40, deviations), credential]);
    const [format, statement] = deviations.attestation ?? ['none', Buffer.from([0xa0])];
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      cbor('fmt'),
      cbor(format),
      cbor('attStmt'),
      statement,
      cbor('authData'),
      cbor(data),
    ]);
    return this.json(
      { clientDataJSON: base64url(clientDataJSON), attestationObject: base64url(attestationObject) },
      deviations,
    );
  }

  /** Returns what `navigator.credentials.get()` returns, as JSON. */
  get({ challenge, rpId }: RequestOptions, deviations: Deviations = {}): string {
    this.counter += 1;
    const clientDataJSON = this.clientData('webauthn.get', challenge, deviations);
    const data = this.authenticatorData(rpId, 0, deviations);
    const signed = Buffer.concat([data, sha256(clientDataJSON)]);
    const signature = sign('sha256', signed, deviations.key ?? this.keys.privateKey);
    const userHandle = 'userHandle' in deviations ? deviations.userHandle : this.userHandle;
    return this.json(
      {
        clientDataJSON: base64url(clientDataJSON),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        ...(userHandle !== undefined && { userHandle }),
      },
      deviations,
    );
  }

  private clientData(type: string, challenge: string, deviations: Deviations): string {
    const { origin } = this;
    return JSON.stringify({ type, challenge, origin, crossOrigin: false, ...withoutOthers(deviations) });
  }

  private authenticatorData(rpId: string, flags: number, deviations: Deviations): Buffer {
    const { isUserPresent = true, isUserVerified = true, isSynced = false } = deviations;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(deviations.counter ?? this.counter);
    const bits = flags | (isUserPresent ? 0x01 : 0) | (isUserVerified ? 0x04 : 0) | (isSynced ? 0x18 : 0);
    return Buffer.concat([sha256(deviations.rpId ?? rpId), Buffer.from([bits]), counter]);
  }

  /** As COSE key (RFC 9053, section 7.1.1). */
  private publicKey(algorithm: number): Buffer {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03]),
      negative(algorithm),
      Buffer.from([0x20, 0x01, 0x21]),
      cbor(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      cbor(Buffer.from(y, 'base64url')),
    ]);
  }

  private json(response: Record<string, string>, { credentialId = this.credentialId }: Deviations): string {
    return JSON.stringify({
      id: credentialId,
      rawId: credentialId,
      type: 'public-key',
      response,
      clientExtensionResults: {},
    });
  }
}

/** Returns the deviations that are members of the client data. */
function withoutOthers({ type, challenge, origin }: Deviations): Record<string, string> {
  return {
    ...(type !== undefined && { type }),
    ...(challenge !== undefined && { challenge }),
    ...(origin !== undefined && { origin }),
  };
}
