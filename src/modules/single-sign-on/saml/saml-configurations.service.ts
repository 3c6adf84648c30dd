import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { ErrorKind, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../../audit-logs/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import type {
  CreateSamlConfigurationRequest,
  SamlConfigurationResponse,
  UpdateSamlConfigurationRequest,
} from './saml-configurations.dto.js';
import { SsoConfigurationsRepository } from '../configurations/sso-configurations.repository.js';
import {
  readCertificate,
  readSamlMetadata,
  validateCertificate,
  type SamlMetadata,
} from './saml-metadata.js';

export const SAML_CONFIGURATION_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'SamlConfigurationNotFound',
  when: 'The organization has no single sign-on configuration with this ID.',
  message: 'There is no single sign-on configuration with this ID.',
});

export const ANOTHER_CONFIGURATION_ENABLED =
  'Another single sign-on configuration is enabled: disable it first.';
export const ALL_CERTIFICATES_EXPIRED =
  'Every signing certificate of the configuration has expired: send new metadata first.';
export const MAX_CONFIGURATIONS = 20;
export const TOO_MANY_CONFIGURATIONS = `The organization already has ${MAX_CONFIGURATIONS} single sign-on configurations: change one of them.`;

/** Manages the SAML identity providers of organizations. Logging in through them is not supported yet. */
@Injectable()
export class SamlConfigurationsService {
  constructor(
    private readonly repository: SsoConfigurationsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list({ organizationId }: DashboardActor): Promise<SamlConfigurationResponse[]> {
    return (await this.repository.list(organizationId, 'saml')).map(toResponse);
  }

  async get({ organizationId }: DashboardActor, id: string): Promise<SamlConfigurationResponse> {
    return toResponse(
      existing(isUUID(id) ? await this.repository.find({ organizationId, protocol: 'saml', id }) : null),
    );
  }

  @Transactional()
  async create(
    actor: DashboardActor,
    request: CreateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    const configuration: SsoConfiguration = {
      id: randomUUID(),
      organizationId: actor.organizationId,
      protocol: 'saml',
      name: request.name,
      ...this.read(request.metadata_xml),
      clientId: null,
      clientSecretSealed: null,
      testedAt: null,
      createdAt: this.clock.now(),
      enabledAt: null,
    };
    if ((await this.repository.lockAndCount(actor.organizationId)) >= MAX_CONFIGURATIONS)
      throw INVALID_FIELD.error(TOO_MANY_CONFIGURATIONS);
    await this.repository.add(configuration);
    return this.record('sso.add', actor, configuration);
  }

  @Transactional()
  async update(
    actor: DashboardActor,
    id: string,
    { name, metadata_xml }: UpdateSamlConfigurationRequest,
  ): Promise<SamlConfigurationResponse> {
    const configuration = await this.locked(actor, id);
    const changes = {
      ...(name === undefined || name === configuration.name ? {} : { name }),
      ...(metadata_xml === undefined || metadata_xml === configuration.metadataXml
        ? {}
        : this.read(metadata_xml)),
    };
    if (Object.keys(changes).length === 0) return toResponse(configuration);
    await this.repository.change(configuration.id, changes);
    return this.record('sso.update', actor, { ...configuration, ...changes });
  }

  /** Changes nothing if the configuration is already enabled. */
  @Transactional()
  async enable(actor: DashboardActor, id: string): Promise<SamlConfigurationResponse> {
    const configuration = await this.locked(actor, id);
    if (configuration.enabledAt) return toResponse(configuration);
    const enabledAt = this.clock.now();
    const isUsable = configuration.certificates.some(
      (encoded) => validateCertificate(readCertificate(encoded), enabledAt) === undefined,
    );
    if (!isUsable) throw INVALID_FIELD.error(ALL_CERTIFICATES_EXPIRED);
    if (!(await this.repository.change(configuration.id, { enabledAt })))
      throw INVALID_FIELD.error(ANOTHER_CONFIGURATION_ENABLED);
    return this.record('sso.enable', actor, { ...configuration, enabledAt });
  }

  /** Changes nothing if the configuration is already disabled. */
  @Transactional()
  async disable(actor: DashboardActor, id: string): Promise<SamlConfigurationResponse> {
    const configuration = await this.locked(actor, id);
    if (!configuration.enabledAt) return toResponse(configuration);
    await this.repository.change(configuration.id, { enabledAt: null });
    return this.record('sso.disable', actor, { ...configuration, enabledAt: null });
  }

  private async locked({ organizationId }: DashboardActor, id: string): Promise<SsoConfiguration> {
    return existing(isUUID(id) ? await this.repository.lock({ organizationId, protocol: 'saml', id }) : null);
  }

  private read(metadataXml: string): SamlMetadata & { readonly metadataXml: string } {
    return { ...readSamlMetadata(metadataXml, this.clock.now()), metadataXml };
  }

  private async record(
    action: AuditAction,
    actor: DashboardActor,
    configuration: SsoConfiguration,
  ): Promise<SamlConfigurationResponse> {
    await this.auditLog.record({ action, actor, target: { name: configuration.name } });
    return toResponse(configuration);
  }
}

function existing(configuration: SsoConfiguration | null): SsoConfiguration {
  if (!configuration) throw SAML_CONFIGURATION_NOT_FOUND.error();
  return configuration;
}

function toResponse(configuration: SsoConfiguration): SamlConfigurationResponse {
  return {
    id: configuration.id,
    name: configuration.name,
    entity_id: configuration.entityId,
    sso_url: configuration.ssoUrl,
    certificates: configuration.certificates.flatMap((encoded) => {
      const certificate = readCertificate(encoded);
      if (!certificate) return [];
      const { subject, fingerprint, validFrom, validTo } = certificate;
      return [{ subject, sha256_fingerprint: fingerprint, valid_from: validFrom, valid_to: validTo }];
    }),
    enabled: configuration.enabledAt !== null,
    created_at: configuration.createdAt,
  };
}
