import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { IsNull, Not } from 'typeorm';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import {
  Transaction,
  Transactional,
  unlessDuplicate,
  type Check,
} from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { AuditAction } from '../../../infrastructure/audit-catalog/index.js';
import {
  AuditLog,
  changesBetween,
  SYSTEM,
  type AuditActor,
  type AuditRecord,
} from '../../audit-logs/index.js';
import { readCertificate, validateCertificate, SamlMetadataReader } from '../saml/saml-metadata.js';
import { SSO_OVERVIEW } from '../configuration-path.js';
import { RefusedLogin } from '../identity-provider.js';
import { SsoAttempt } from '../sso-attempt.entity.js';
import { OpenidProvider, ownerOfSecret } from '../openid/openid-provider.js';
import type { SamlKey } from '../saml/saml-key.entity.js';
import { SamlKeysService } from '../saml/saml-keys.service.js';
import type {
  AddOpenidConfigurationRequest,
  AddSamlConfigurationRequest,
  ChangeConfigurationRequest,
} from './sso-configurations.dto.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
import { SSO_CONFIGURATION_NOT_FOUND } from '../single-sign-on-errors.js';

const ANOTHER_CONFIGURATION_ENABLED = 'Another single sign-on configuration is enabled: disable it first.';
const ENTER_NEW_METADATA = 'Enter new metadata first.';
const MAX_CONFIGURATIONS = 20;
const TOO_MANY_CONFIGURATIONS = `The organization already has ${MAX_CONFIGURATIONS} single sign-on configurations: change one of them.`;
const ADDED_BEFORE =
  'This form was sent before. To add another identity provider, start on the page “Single sign-on”.';
const INVALID_ID = 'The ID of the form is not a UUID: start on the page “Single sign-on”.';
const ALL_PROVIDERS = { path: SSO_OVERVIEW.path, name: SSO_OVERVIEW.title };
const NOT_TESTED = 'No test login has succeeded yet: test the identity provider first.';

/** The columns of the other protocol. */
const NO_SAML = {
  metadataXml: '',
  metadataUrl: null,
  metadataCheckedAt: null,
  ssoUrl: '',
  ssoBinding: '',
  certificates: [],
};
const NO_OPENID = { clientId: null, clientSecretSealed: null };
/** Columns of a configuration that was just added. */
const NEW_CONFIGURATION = {
  revision: 0,
  testedAt: null,
  recencyProblem: null,
  expiryNotifiedAt: null,
  isOwnerApproved: false,
  enabledAt: null,
};
type AddedColumns = 'id' | 'organizationId' | 'createdAt' | keyof typeof NEW_CONFIGURATION;

/** Manages the identity providers of organizations. */
@Injectable()
export class SsoConfigurationsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly openid: OpenidProvider,
    private readonly metadata: SamlMetadataReader,
    private readonly keys: SamlKeysService,
    private readonly sealer: Sealer,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  list({ organizationId }: DashboardActor): Promise<SsoConfiguration[]> {
    return this.transaction.manager.find(SsoConfiguration, {
      where: { organizationId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** @throws ApiError NOT_FOUND */
  async get({ organizationId }: DashboardActor, id: string): Promise<SsoConfiguration> {
    const found = await this.transaction.findById(SsoConfiguration, { organizationId, id });
    return SSO_CONFIGURATION_NOT_FOUND.requireFound(found);
  }

  /** @throws ApiError INVALID_FIELD, also if the metadata cannot be fetched */
  async addSaml(actor: DashboardActor, request: AddSamlConfigurationRequest): Promise<SsoConfiguration> {
    const id = newId(request);
    const read = await this.metadata.read(actor.organizationId, request);
    if (!read) throw INVALID_FIELD.error('Enter the metadata, or its URL.', { field: 'metadata_url' });
    const { name } = request;
    return this.store(actor, id, { protocol: 'saml', name, ...NO_OPENID, ...read });
  }

  /** @throws ApiError INVALID_FIELD, also if the discovery document of the issuer cannot be read */
  async addOpenid(actor: DashboardActor, request: AddOpenidConfigurationRequest): Promise<SsoConfiguration> {
    const id = newId(request);
    const { name, issuer, client_id: clientId, client_secret: secret } = request;
    const entityId = await this.openid.issuerOf(issuer, clientId).catch((error: unknown) => {
      throw error instanceof RefusedLogin ? INVALID_FIELD.error(error.message, { field: 'issuer' }) : error;
    });
    const clientSecretSealed = secret === undefined ? null : this.seal(secret, id);
    return this.store(actor, id, {
      protocol: 'openid',
      name,
      entityId,
      ...NO_SAML,
      clientId,
      clientSecretSealed,
    });
  }

  /**
   * Leaves what the request does not contain as it is. A request that changes nothing fetches the metadata again.
   *
   * @throws ApiError INVALID_FIELD, NOT_FOUND
   */
  async change(
    actor: DashboardActor,
    configuration: SsoConfiguration,
    request: ChangeConfigurationRequest,
    check?: Check<SsoConfiguration>,
  ): Promise<SsoConfiguration> {
    const { name } = request;
    const changes = await this.changesIn(configuration, request);
    const named = name === undefined ? {} : { name };
    return this.applyChanges(actor, configuration.id, { ...named, ...changes }, check);
  }

  /** Stores metadata that was fetched again, unless the configuration has another URL, or newer metadata, in the meantime. */
  @Transactional()
  async refresh(fetchedFor: SsoConfiguration, read: Partial<SsoConfiguration>): Promise<void> {
    const { id, organizationId } = fetchedFor;
    const actor = { organizationId, ...SYSTEM };
    const sourceOf = ({ metadataUrl, metadataCheckedAt }: SsoConfiguration): string =>
      JSON.stringify([metadataUrl, metadataCheckedAt]);
    if (sourceOf(await this.locked(actor, id)) === sourceOf(fetchedFor))
      await this.applyChanges(actor, id, read);
  }

  /** Changes nothing if the configuration is already enabled. @throws ApiError INVALID_FIELD, NOT_FOUND */
  @Transactional()
  async enable(
    actor: DashboardActor,
    id: string,
    check?: Check<SsoConfiguration>,
  ): Promise<SsoConfiguration> {
    const configuration = await this.locked(actor, id, check);
    if (configuration.enabledAt) return configuration;
    const enabled = { enabledAt: this.clock.now(), isOwnerApproved: actor.role === 'owner' };
    await this.requireUsable(configuration, enabled.enabledAt);
    const isOnlyOne = await unlessDuplicate(
      () => this.transaction.manager.update(SsoConfiguration, { id }, enabled),
      'saml_configuration_enabled_key',
    );
    if (!isOnlyOne) throw INVALID_FIELD.error(ANOTHER_CONFIGURATION_ENABLED, { inTheWay: ALL_PROVIDERS });
    return this.record('sso.enable', actor, { ...configuration, ...enabled });
  }

  /** Changes nothing if the configuration is already disabled. @throws ApiError NOT_FOUND */
  @Transactional()
  async disable(
    actor: DashboardActor,
    id: string,
    check?: Check<SsoConfiguration>,
  ): Promise<SsoConfiguration> {
    const configuration = await this.locked(actor, id, check);
    if (!configuration.enabledAt) return configuration;
    await this.transaction.manager.update(SsoConfiguration, { id }, { enabledAt: null });
    return this.record('sso.disable', actor, { ...configuration, enabledAt: null });
  }

  /** Adds a certificate of ours. @throws ApiError INVALID_FIELD if there are two already */
  async beginRollover(actor: DashboardActor, configuration: SsoConfiguration): Promise<void> {
    await this.addKey(actor, configuration, await this.keys.create(configuration.id));
  }

  @Transactional()
  private async addKey(actor: DashboardActor, configuration: SsoConfiguration, key: SamlKey): Promise<void> {
    await this.keys.beginRollover(key);
    await this.record('sso.update', actor, configuration);
  }

  /** Removes the older one of two certificates of ours: requests are signed with the newer one, which no test has covered. */
  @Transactional()
  async endRollover(
    actor: DashboardActor,
    { id }: SsoConfiguration,
    check?: Check<readonly string[]>,
  ): Promise<void> {
    const configuration = await this.locked(actor, id);
    if (!(await this.keys.endRollover(id, check))) return;
    await this.transaction.manager.update(SsoConfiguration, { id }, untested(configuration));
    await this.record('sso.update', actor, configuration);
  }

  /** SAML configurations could be enabled before they could be tested, but not once a test has failed, or after changes. */
  private async requireUsable(configuration: SsoConfiguration, now: Date): Promise<void> {
    const { id, protocol, certificates, testedAt, revision } = configuration;
    const problems = certificates.map((encoded) => validateCertificate(readCertificate(encoded), now));
    if (protocol === 'saml' && !problems.includes(undefined))
      throw INVALID_FIELD.error(`${problems[0]} ${ENTER_NEW_METADATA}`);
    if (testedAt) return;
    const failed = { configurationId: id, testerId: Not(IsNull()), problem: Not(IsNull()) };
    if (
      protocol === 'openid' ||
      revision > 0 ||
      (await this.transaction.manager.existsBy(SsoAttempt, failed))
    )
      throw INVALID_FIELD.error(NOT_TESTED);
  }

  /** Reads the changes before the transaction. Renaming must be possible while the provider does not respond. */
  private async changesIn(
    configuration: SsoConfiguration,
    request: ChangeConfigurationRequest,
  ): Promise<Partial<SsoConfiguration>> {
    const { id, organizationId, protocol, metadataUrl } = configuration;
    const { name, client_secret: secret, metadata_url: url, metadata_xml: xml } = request;
    // The secret counts as changed even if it is the same, so that nobody can find out with guesses.
    if (protocol === 'openid')
      return secret === undefined ? {} : { clientSecretSealed: this.seal(secret, id) };
    const isRenamed = name !== undefined && name !== configuration.name;
    if (isRenamed && url === metadataUrl && xml === undefined) return {};
    return (await this.metadata.read(organizationId, request)) ?? {};
  }

  @Transactional()
  private async store(
    actor: DashboardActor,
    id: string,
    fields: Omit<SsoConfiguration, AddedColumns>,
  ): Promise<SsoConfiguration> {
    const { organizationId } = actor;
    const createdAt = this.clock.now();
    const configuration = { id, organizationId, ...fields, ...NEW_CONFIGURATION, createdAt };
    await this.transaction.lock(`saml-configurations:${organizationId}`);
    if ((await this.transaction.manager.countBy(SsoConfiguration, { organizationId })) >= MAX_CONFIGURATIONS)
      throw INVALID_FIELD.error(TOO_MANY_CONFIGURATIONS, { field: 'name', inTheWay: ALL_PROVIDERS });
    if (!(await this.transaction.insertNew(SsoConfiguration, configuration, 'saml_configuration_pkey')))
      throw INVALID_FIELD.error(ADDED_BEFORE, { field: 'name', inTheWay: ALL_PROVIDERS });
    const added = changesBetween({}, auditedConfiguration(configuration));
    return this.record('sso.add', actor, configuration, added);
  }

  @Transactional()
  private async applyChanges(
    actor: AuditActor & Partial<Pick<DashboardActor, 'role'>>,
    id: string,
    changes: Partial<SsoConfiguration>,
    check?: Check<SsoConfiguration>,
  ): Promise<SsoConfiguration> {
    const configuration = await this.locked(actor, id, check);
    const { metadataUrl } = configuration;
    const isFetchedAgain = metadataUrl !== null && changes.metadataUrl === metadataUrl;
    const changed = { ...configuration, ...changes };
    const before = meaningOf(configuration);
    const after = meaningOf(changed);
    const different = COMPARED.filter((column) => before[column] !== after[column]);
    const isOnly = (...columns: readonly (keyof SsoConfiguration)[]): boolean =>
      different.every((column) => column === 'name' || (isFetchedAgain && columns.includes(column)));
    // The owner who approved the URL trusts what the provider itself changes there.
    const isStillApproved = isOnly('certificates', 'ssoUrl', 'ssoBinding') || actor.role === 'owner';
    Object.assign(changed, {
      isOwnerApproved: configuration.isOwnerApproved && isStillApproved,
      ...(!isOnly('certificates') && untested(configuration)),
    });
    await this.transaction.manager.update(SsoConfiguration, { id }, changed);
    // Some providers send another ID or date each time.
    if (different.length === 0) return changed;
    const audited = changesBetween(auditedConfiguration(configuration), auditedConfiguration(changed));
    return this.record('sso.update', actor, changed, audited);
  }

  private seal(secret: string, id: string): Buffer {
    // An address may have capital letters, but the database returns the ID in lower case.
    return this.sealer.seal(secret, ownerOfSecret(id.toLowerCase()));
  }

  private async locked(
    { organizationId }: AuditActor,
    id: string,
    check?: Check<SsoConfiguration>,
  ): Promise<SsoConfiguration> {
    return SSO_CONFIGURATION_NOT_FOUND.requireFound(
      isUUID(id) && (await this.transaction.lockRow(SsoConfiguration, { organizationId, id }, check)),
    );
  }

  private async record(
    action: AuditAction,
    actor: AuditActor,
    configuration: SsoConfiguration,
    changes: AuditRecord['changes'] = [],
  ): Promise<SsoConfiguration> {
    await this.auditLog.record({ action, actor, target: { name: configuration.name }, changes });
    return configuration;
  }
}

const COMPARED = [
  'name',
  'entityId',
  'ssoUrl',
  'ssoBinding',
  'certificates',
  'metadataUrl',
  'clientId',
  'clientSecretSealed',
] as const;

/** Returns what is compared. Of metadata, that is what they mean and not their text, and the order of certificates means nothing. */
function meaningOf(configuration: SsoConfiguration): Readonly<Record<string, string>> {
  const { certificates } = configuration;
  const compared = { ...configuration, certificates: certificates.toSorted() };
  return Object.fromEntries(COMPARED.map((column) => [column, JSON.stringify(compared[column])]));
}

/** Returns the columns of a configuration after a change that no test has covered. */
function untested({ revision }: SsoConfiguration) {
  return { testedAt: null, recencyProblem: null, revision: revision + 1 };
}

/** Returns what the audit log shows of a configuration: of certificates the fingerprints, and no secret. */
function auditedConfiguration({ name, entityId, ssoUrl, metadataUrl, certificates }: SsoConfiguration) {
  return {
    name,
    entity_id: entityId,
    sso_url: ssoUrl && maskedUrl(ssoUrl),
    metadata_url: metadataUrl && maskedUrl(metadataUrl),
    certificates: certificates.flatMap((encoded) => readCertificate(encoded)?.fingerprint.slice(0, 23) ?? []),
  };
}

/**
 * Returns the ID in lower case, as the database returns it: the client secret is sealed with it. Like the pages, it accepts only
 * UUIDs of RFC 9562.
 *
 * @throws ApiError INVALID_FIELD
 */
function newId({ id = randomUUID() }: { readonly id?: string }): string {
  if (!isUUID(id)) throw INVALID_FIELD.error(INVALID_ID);
  return id.toLowerCase();
}
