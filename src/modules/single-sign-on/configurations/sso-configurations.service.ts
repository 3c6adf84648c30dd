import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional, unlessDuplicate } from '../../../infrastructure/database/index.js';
import { ErrorKind, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { maskedUrl } from '../../../infrastructure/logging/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog, changesBetween, type AuditAction, type AuditRecord } from '../../audit-logs/index.js';
import { readCertificate, validateCertificate, SamlMetadataReader } from '../saml/saml-metadata.js';
import { RefusedLogin } from '../logins/identity-provider.js';
import { OpenidProvider, ownerOfSecret } from '../openid/openid-provider.js';
import { SamlKeysService } from '../saml/saml-keys.service.js';
import type {
  AddOpenidConfigurationRequest,
  AddSamlConfigurationRequest,
  ChangeConfigurationRequest,
} from './sso-configurations.dto.js';
import { SsoConfiguration } from './sso-configuration.entity.js';

const SSO_CONFIGURATION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  when: 'The organization has no single sign-on configuration with this ID.',
  message: 'There is no single sign-on configuration with this ID.',
});

const ANOTHER_CONFIGURATION_ENABLED = 'Another single sign-on configuration is enabled: disable it first.';
const ALL_CERTIFICATES_EXPIRED =
  'Every signing certificate of the configuration has expired: send new metadata first.';
const MAX_CONFIGURATIONS = 20;
const TOO_MANY_CONFIGURATIONS = `The organization already has ${MAX_CONFIGURATIONS} single sign-on configurations: change one of them.`;
const ADDED_BEFORE =
  'This form was sent before. To add another identity provider, start on the page “Single sign-on”.';
const INVALID_ID = 'The ID of the form is not a UUID: start on the page “Single sign-on”.';
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
    return SSO_CONFIGURATION_NOT_FOUND.unlessFound(
      isUUID(id) && (await this.transaction.manager.findOneBy(SsoConfiguration, { organizationId, id })),
    );
  }

  /** @throws ApiError INVALID_FIELD, also if the metadata cannot be fetched */
  async addSaml(actor: DashboardActor, request: AddSamlConfigurationRequest): Promise<SsoConfiguration> {
    const id = newId(request);
    const read = await this.metadata.read(request);
    if (!read) throw INVALID_FIELD.error('Enter the metadata, or its URL.');
    const { name } = request;
    return this.store(actor, id, { protocol: 'saml', name, ...NO_OPENID, ...read });
  }

  /** @throws ApiError INVALID_FIELD, also if the discovery document of the issuer cannot be read */
  async addOpenid(actor: DashboardActor, request: AddOpenidConfigurationRequest): Promise<SsoConfiguration> {
    const id = newId(request);
    const { name, issuer, client_id: clientId, client_secret: secret } = request;
    const entityId = await this.openid.issuerOf(issuer, clientId).catch((error: unknown) => {
      throw error instanceof RefusedLogin ? INVALID_FIELD.error(error.message) : error;
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

  /** Leaves what the request does not contain as it is. @throws ApiError INVALID_FIELD, NOT_FOUND */
  async change(
    actor: DashboardActor,
    { id, protocol }: SsoConfiguration,
    request: ChangeConfigurationRequest,
  ): Promise<SsoConfiguration> {
    const { name, client_secret: secret } = request;
    const changes: Partial<SsoConfiguration> =
      protocol === 'saml'
        ? ((await this.metadata.read(request)) ?? {})
        : secret === undefined
          ? {}
          : { clientSecretSealed: this.seal(secret, id) };
    return this.applyChanges(actor, id, { ...(name === undefined ? {} : { name }), ...changes });
  }

  /** Changes nothing if the configuration is already enabled. @throws ApiError INVALID_FIELD, NOT_FOUND */
  @Transactional()
  async enable(actor: DashboardActor, id: string): Promise<SsoConfiguration> {
    const configuration = await this.locked(actor, id);
    if (configuration.enabledAt) return configuration;
    const enabled = { enabledAt: this.clock.now(), isOwnerApproved: actor.role === 'owner' };
    this.requireUsable(configuration, enabled.enabledAt);
    const isOnlyOne = await unlessDuplicate(
      () => this.transaction.manager.update(SsoConfiguration, { id }, enabled),
      'saml_configuration_enabled_key',
    );
    if (!isOnlyOne) throw INVALID_FIELD.error(ANOTHER_CONFIGURATION_ENABLED);
    return this.record('sso.enable', actor, { ...configuration, ...enabled });
  }

  /** Changes nothing if the configuration is already disabled. @throws ApiError NOT_FOUND */
  @Transactional()
  async disable(actor: DashboardActor, id: string): Promise<SsoConfiguration> {
    const configuration = await this.locked(actor, id);
    if (!configuration.enabledAt) return configuration;
    await this.transaction.manager.update(SsoConfiguration, { id }, { enabledAt: null });
    return this.record('sso.disable', actor, { ...configuration, enabledAt: null });
  }

  /** Adds a certificate of ours. @throws ApiError INVALID_FIELD if there are two already */
  async beginRollover(actor: DashboardActor, configuration: SsoConfiguration): Promise<void> {
    await this.keys.beginRollover(configuration.id);
    await this.record('sso.update', actor, configuration);
  }

  /** Removes the older one of two certificates of ours. */
  async endRollover(actor: DashboardActor, configuration: SsoConfiguration): Promise<void> {
    await this.keys.endRollover(configuration.id);
    await this.record('sso.update', actor, configuration);
  }

  /** SAML configurations could be enabled before they could be tested. */
  private requireUsable({ protocol, certificates, testedAt }: SsoConfiguration, now: Date): void {
    if (protocol === 'openid') {
      if (!testedAt) throw INVALID_FIELD.error(NOT_TESTED);
      return;
    }
    const isValid = (encoded: string): boolean =>
      validateCertificate(readCertificate(encoded), now) === undefined;
    if (!certificates.some(isValid)) throw INVALID_FIELD.error(ALL_CERTIFICATES_EXPIRED);
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
      throw INVALID_FIELD.error(TOO_MANY_CONFIGURATIONS);
    if (!(await this.transaction.insertNew(SsoConfiguration, configuration, 'saml_configuration_pkey')))
      throw INVALID_FIELD.error(ADDED_BEFORE);
    const added = changesBetween({}, auditedConfiguration(configuration));
    return this.record('sso.add', actor, configuration, added);
  }

  @Transactional()
  private async applyChanges(
    actor: DashboardActor,
    id: string,
    changes: Partial<SsoConfiguration>,
  ): Promise<SsoConfiguration> {
    const configuration = await this.locked(actor, id);
    const { metadataCheckedAt: _checked, ...compared } = changes;
    const different = Object.entries(compared)
      .filter(
        ([name, value]) =>
          JSON.stringify(configuration[name as keyof SsoConfiguration]) !== JSON.stringify(value),
      )
      .map(([name]) => name);
    if (different.length === 0) return configuration;
    // Another name does not change whom the configuration trusts.
    const isRenamed = different.every((name) => name === 'name');
    const isOwnerApproved = configuration.isOwnerApproved && (isRenamed || actor.role === 'owner');
    const changed = { ...configuration, ...changes, isOwnerApproved };
    await this.transaction.manager.update(SsoConfiguration, { id }, { ...changes, isOwnerApproved });
    const audited = changesBetween(auditedConfiguration(configuration), auditedConfiguration(changed));
    return this.record('sso.update', actor, changed, audited);
  }

  private seal(secret: string, id: string): Buffer {
    // An address may have capital letters, but the database returns the ID in lower case.
    return this.sealer.seal(secret, ownerOfSecret(id.toLowerCase()));
  }

  private async locked({ organizationId }: DashboardActor, id: string): Promise<SsoConfiguration> {
    return SSO_CONFIGURATION_NOT_FOUND.unlessFound(
      isUUID(id) && (await this.transaction.lockRow(SsoConfiguration, { organizationId, id })),
    );
  }

  private async record(
    action: AuditAction,
    actor: DashboardActor,
    configuration: SsoConfiguration,
    changes: AuditRecord['changes'] = [],
  ): Promise<SsoConfiguration> {
    await this.auditLog.record({ action, actor, target: { name: configuration.name }, changes });
    return configuration;
  }
}

/** Returns what the audit log shows of a configuration: of certificates the fingerprints, and no secret. */
export function auditedConfiguration({
  name,
  entityId,
  ssoUrl,
  metadataUrl,
  certificates,
}: SsoConfiguration) {
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
