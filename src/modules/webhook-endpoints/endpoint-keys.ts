import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { BoundedCache } from '../../infrastructure/caching/index.js';
import { Sealer } from '../../infrastructure/crypto/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import {
  acceptedVersions,
  SecretVersions,
  type VersionsOverview,
} from '../../infrastructure/issued-tokens/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { EndpointLanes } from './endpoint-lanes.js';
import { generateKey, signerOf, type MessageSigner } from './signing-key.js';
import { ownerOfKey, WebhookEndpointKey, type Signing } from './webhook-endpoint-key.entity.js';
import { ownerOfHeaders, WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WEBHOOK_ENDPOINT_KEY_ROTATING } from './webhook-endpoints-errors.js';

const MAX_CACHED_ENDPOINTS = 10_000;

/** The keys that sign the deliveries to an endpoint. The newest version is 0 if it never had a key of its own. */
export interface KeysOverview extends VersionsOverview {
  readonly signing: Signing;
  /** The public key of the newest key. */
  readonly publicKey: string | null;
}

/** A key that one of the endpoints has or had. */
type OpenedKey = Pick<WebhookEndpointKey, 'version' | 'signsFrom' | 'acceptedUntil'> & {
  /** Undefined if the client's secrets sign. */
  readonly sign: MessageSigner | undefined;
};

/** Headers with the receiver for which they are meant: release 0.3.0 changes a URL and leaves its headers. */
interface OwnHeaders {
  readonly origin: string;
  readonly values: Readonly<Record<string, string>>;
}

interface OpenedEndpoint {
  readonly revision: number;
  readonly url: string;
  readonly keys: readonly OpenedKey[];
  readonly headers: OwnHeaders | undefined;
}

/** The keys and headers of deliveries to one endpoint. */
export interface OwnSigning {
  /** The keys that sign now, the active one first. Undefined stands for the client's secrets. */
  readonly signers: readonly (MessageSigner | undefined)[];
  readonly headers: Readonly<Record<string, string>>;
}

/** The keys or headers of an endpoint cannot be decrypted, or it was deleted. */
export class KeyUnavailable extends Error {
  override readonly name = 'KeyUnavailable';
}

/** The own keys and headers of endpoints. The caller of a method that changes them must have locked the endpoint. */
@Injectable()
export class EndpointKeys {
  /** Keys and headers by endpoint and revision. They never change for a revision, so entries don't expire. */
  private readonly opened = new BoundedCache<OpenedEndpoint>({ max: MAX_CACHED_ENDPOINTS });

  constructor(
    private readonly transaction: Transaction,
    private readonly sealer: Sealer,
    private readonly lanes: EndpointLanes,
    private readonly versions: SecretVersions,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the keys that sign deliveries to the endpoint, and its headers.
   *
   * @param revision read from the database with the delivery, so that every process notices a change at once
   * @param url read with the revision: if the endpoint has another receiver by now, its headers are not meant for this one
   * @throws KeyUnavailable
   */
  async of(endpointId: string, revision: number, url: string): Promise<OwnSigning> {
    const opened = this.opened.get(`${endpointId} ${revision}`) ?? (await this.open(endpointId));
    const { keys, headers } = opened;
    if (opened.revision !== revision && new URL(opened.url).origin !== new URL(url).origin)
      throw new KeyUnavailable('The endpoint has another receiver by now');
    const signing = acceptedVersions(keys, this.clock.now());
    const signers = signing.length > 0 ? signing.map(({ sign }) => sign) : [undefined];
    return { signers, headers: valuesFor(url, headers) };
  }

  /** Returns the keys that sign for each of the endpoints. */
  async overviewsOf(endpoints: readonly WebhookEndpoint[]): Promise<ReadonlyMap<string, KeysOverview>> {
    const ids = endpoints.filter(({ signingRevision }) => signingRevision > 0).map(({ id }) => id);
    const rows = ids.length === 0 ? [] : await this.rowsOf(ids);
    const overviews = endpoints.map(({ id }) => {
      const ofEndpoint = rows.filter(({ endpointId }) => endpointId === id);
      return [id, this.overviewOf(ofEndpoint)] as const;
    });
    return new Map(overviews);
  }

  /** Returns the secret of an endpoint that signs with `hmac`. */
  async secretOf(endpointId: string): Promise<string | undefined> {
    const [newest] = await this.rowsOf([endpointId]);
    return newest?.kind === 'hmac' && newest.sealed
      ? this.unseal(newest.sealed, ownerOfKey(newest))
      : undefined;
  }

  /**
   * Lets another key sign. During the overlap, the previous one signs, too.
   *
   * @param overlapHours 0 for an endpoint without deliveries, and after a leak
   * @returns the secret, if the key has one that receivers need
   * @throws ApiError WEBHOOK_ENDPOINT_KEY_ROTATING
   */
  async replace(endpoint: WebhookEndpoint, kind: Signing, overlapHours: number): Promise<string | undefined> {
    const keys = await this.rowsOf([endpoint.id]);
    const inProgress = () => WEBHOOK_ENDPOINT_KEY_ROTATING.error();
    const next = await this.versions.replace(WebhookEndpointKey, keys, overlapHours, inProgress);
    if (keys.length === 0 && overlapHours > 0)
      await this.add(endpoint.id, {
        version: 0,
        kind: 'client',
        signsFrom: endpoint.createdAt,
        acceptedUntil: next.signsFrom,
      });
    const secret = await this.add(endpoint.id, { ...next, kind });
    await this.revise(endpoint.id);
    return secret;
  }

  /**
   * Makes the signature of the newest key the first one.
   *
   * @returns whether that of another key was the first one until now
   */
  async activate(endpointId: string): Promise<boolean> {
    const isChanged = await this.versions.activate(WebhookEndpointKey, await this.rowsOf([endpointId]));
    if (isChanged) await this.revise(endpointId);
    return isChanged;
  }

  /** Returns the headers that are sent to the URL of the endpoint, with their values. */
  async headersOf(endpointId: string): Promise<Readonly<Record<string, string>>> {
    const endpoint = await this.withHeaders(endpointId);
    return endpoint ? valuesFor(endpoint.url, this.headersIn(endpoint)) : {};
  }

  private withHeaders(id: string): Promise<WebhookEndpoint | null> {
    const select = { id: true, url: true, signingRevision: true, headerNames: true, sealedHeaders: true };
    return this.transaction.manager.findOne(WebhookEndpoint, { where: { id }, select });
  }

  private headersIn({ id, headerNames, sealedHeaders }: WebhookEndpoint): OwnHeaders | undefined {
    if (!sealedHeaders) return undefined;
    const [origin = '', ...values] = JSON.parse(this.unseal(sealedHeaders, ownerOfHeaders(id))) as string[];
    return {
      origin,
      values: Object.fromEntries(headerNames.map((name, index) => [name, values[index] ?? ''])),
    };
  }

  /** @param url the one of the receiver for which the headers are meant */
  async setHeaders(id: string, url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const sealable = JSON.stringify([new URL(url).origin, ...Object.values(headers)]);
    const sealedHeaders = this.sealer.seal(sealable, ownerOfHeaders(id));
    const changes = { headerNames: Object.keys(headers), sealedHeaders };
    await this.transaction.manager.update(WebhookEndpoint, { id }, changes);
    await this.revise(id);
  }

  /** Makes all processes read the keys and headers again. Those of release 0.3.0 leave the endpoint alone from now on. */
  private async revise(id: string): Promise<void> {
    await this.transaction.manager.increment(WebhookEndpoint, { id }, 'signingRevision', 1);
    await this.lanes.reserve(id);
  }

  private async add(
    endpointId: string,
    key: Pick<WebhookEndpointKey, 'version' | 'kind' | 'signsFrom' | 'acceptedUntil'>,
  ): Promise<string | undefined> {
    const id = randomUUID();
    const { kind, version } = key;
    const { sealable, publicKey } =
      kind === 'client' ? { sealable: undefined, publicKey: null } : generateKey(kind);
    const sealed = this.sealer.sealOptional(sealable, ownerOfKey({ id, endpointId, version }));
    const createdAt = this.clock.now();
    await this.transaction.manager.insert(WebhookEndpointKey, {
      id,
      endpointId,
      createdAt,
      ...key,
      sealed,
      publicKey,
    });
    return kind === 'hmac' ? sealable : undefined;
  }

  /** Returns the keys of endpoints, newest first. */
  private rowsOf(endpointIds: readonly string[]): Promise<WebhookEndpointKey[]> {
    const where = { endpointId: In(endpointIds) };
    return this.transaction.manager.find(WebhookEndpointKey, { where, order: { version: 'DESC' } });
  }

  private overviewOf(rows: readonly WebhookEndpointKey[]): KeysOverview {
    const [newest] = rows;
    const overview = this.versions.overviewOf(rows);
    return { signing: newest?.kind ?? 'client', publicKey: newest?.publicKey ?? null, ...overview };
  }

  private unseal(sealed: Buffer, owner: readonly string[]): string {
    try {
      return this.sealer.open(sealed, owner);
    } catch (cause) {
      throw new KeyUnavailable(`The ${owner.join(' ')} cannot be decrypted`, { cause });
    }
  }

  private async open(endpointId: string): Promise<OpenedEndpoint> {
    // Both are read with one row, so that headers are not cached for an earlier revision than their own.
    const endpoint = await this.withHeaders(endpointId);
    if (!endpoint) throw new KeyUnavailable(`The endpoint ${endpointId} was deleted`);
    const keys = (await this.rowsOf([endpointId])).map((row): OpenedKey => {
      const { kind, sealed, version, signsFrom, acceptedUntil } = row;
      const isOwn = kind !== 'client' && sealed;
      const sign = isOwn ? signerOf(kind, this.unseal(sealed, ownerOfKey(row))) : undefined;
      return { version, signsFrom, acceptedUntil, sign };
    });
    const { signingRevision: revision, url } = endpoint;
    const opened = { revision, url, keys, headers: this.headersIn(endpoint) };
    this.opened.set(`${endpointId} ${opened.revision}`, opened);
    return opened;
  }
}

/** Returns the headers that the receiver with the URL may get. */
function valuesFor(url: string, headers: OwnHeaders | undefined): OwnHeaders['values'] {
  return headers?.origin === new URL(url).origin ? headers.values : {};
}
