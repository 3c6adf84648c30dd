import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { parsedUrl } from '../../../infrastructure/config/index.js';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../../audit-logs/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { SsoConfigurationsRepository } from '../configurations/sso-configurations.repository.js';
import { RefusedLogin } from '../logins/refused-login.js';
import {
  ANOTHER_CONFIGURATION_ENABLED,
  MAX_CONFIGURATIONS,
  SAML_CONFIGURATION_NOT_FOUND,
  TOO_MANY_CONFIGURATIONS,
} from '../saml/saml-configurations.service.js';
import type {
  AddOpenidConfigurationRequest,
  ChangeOpenidConfigurationRequest,
} from './openid-configurations.dto.js';
import { OpenidProvider, ownerOfSecret } from './openid-provider.js';

const NOT_TESTED = 'No test login has succeeded yet: test the identity provider first.';
const NOT_A_URL = 'The issuer field must be an https URL, such as https://login.example.com.';

/** Manages the identity providers of organizations that speak OpenID Connect. */
@Injectable()
export class OpenidConfigurationsService {
  constructor(
    private readonly repository: SsoConfigurationsRepository,
    private readonly provider: OpenidProvider,
    private readonly sealer: Sealer,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list({ organizationId }: DashboardActor): Promise<SsoConfiguration[]> {
    return this.repository.list(organizationId, 'openid');
  }

  /** @throws ApiError NOT_FOUND */
  async get({ organizationId }: DashboardActor, id: string): Promise<SsoConfiguration> {
    return existing(
      isUUID(id) ? await this.repository.find({ organizationId, protocol: 'openid', id }) : null,
    );
  }

  /** @throws ApiError INVALID_FIELD, also if the discovery document of the issuer cannot be read */
  async add(actor: DashboardActor, request: AddOpenidConfigurationRequest): Promise<SsoConfiguration> {
    const { issuer, client_id: clientId } = request;
    if (parsedUrl(issuer) === undefined) throw INVALID_FIELD.error(NOT_A_URL);
    const found = await this.provider.issuerOf(issuer, clientId).catch((error: unknown) => {
      throw error instanceof RefusedLogin ? INVALID_FIELD.error(error.message) : error;
    });
    return this.store(actor, { ...request, issuer: found });
  }

  @Transactional()
  async change(actor: DashboardActor, id: string, request: ChangeOpenidConfigurationRequest): Promise<void> {
    const configuration = await this.locked(actor, id);
    const { name, client_secret: secret } = request;
    const sealed = secret === undefined ? {} : { clientSecretSealed: this.seal(secret, id) };
    await this.repository.change(id, { name, ...sealed });
    await this.record('sso.update', actor, { ...configuration, name });
  }

  /** Changes nothing if the configuration is already enabled. @throws ApiError INVALID_FIELD */
  @Transactional()
  async enable(actor: DashboardActor, id: string): Promise<void> {
    const configuration = await this.locked(actor, id);
    if (configuration.enabledAt) return;
    if (!configuration.testedAt) throw INVALID_FIELD.error(NOT_TESTED);
    if (!(await this.repository.change(id, { enabledAt: this.clock.now() })))
      throw INVALID_FIELD.error(ANOTHER_CONFIGURATION_ENABLED);
    await this.record('sso.enable', actor, configuration);
  }

  /** Changes nothing if the configuration is already disabled. */
  @Transactional()
  async disable(actor: DashboardActor, id: string): Promise<void> {
    const configuration = await this.locked(actor, id);
    if (!configuration.enabledAt) return;
    await this.repository.change(id, { enabledAt: null });
    await this.record('sso.disable', actor, configuration);
  }

  @Transactional()
  private async store(
    actor: DashboardActor,
    { name, issuer, client_id: clientId, client_secret: secret }: AddOpenidConfigurationRequest,
  ): Promise<SsoConfiguration> {
    const id = randomUUID();
    const configuration: SsoConfiguration = {
      id,
      organizationId: actor.organizationId,
      protocol: 'openid',
      name,
      metadataXml: '',
      entityId: issuer,
      ssoUrl: '',
      ssoBinding: '',
      certificates: [],
      clientId,
      clientSecretSealed: this.seal(secret, id),
      testedAt: null,
      createdAt: this.clock.now(),
      enabledAt: null,
    };
    if ((await this.repository.lockAndCount(actor.organizationId)) >= MAX_CONFIGURATIONS)
      throw INVALID_FIELD.error(TOO_MANY_CONFIGURATIONS);
    await this.repository.add(configuration);
    await this.record('sso.add', actor, configuration);
    return configuration;
  }

  private seal(secret: string, id: string): Buffer {
    return this.sealer.seal(secret, ownerOfSecret(id));
  }

  private async locked({ organizationId }: DashboardActor, id: string): Promise<SsoConfiguration> {
    return existing(
      isUUID(id) ? await this.repository.lock({ organizationId, protocol: 'openid', id }) : null,
    );
  }

  private async record(
    action: AuditAction,
    actor: DashboardActor,
    { name }: SsoConfiguration,
  ): Promise<void> {
    await this.auditLog.record({ action, actor, target: { name } });
  }
}

function existing(configuration: SsoConfiguration | null): SsoConfiguration {
  if (!configuration) throw SAML_CONFIGURATION_NOT_FOUND.error();
  return configuration;
}
