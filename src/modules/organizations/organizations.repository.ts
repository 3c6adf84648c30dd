import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import type { LogoMediaType } from './logo.js';
import { Organization } from './organization.entity.js';

export interface Logo {
  readonly image: Buffer;
  readonly mediaType: LogoMediaType;
}

@Injectable()
export class OrganizationsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(organization: Organization): Promise<void> {
    await this.transaction.manager.insert(Organization, organization);
  }

  /** Locks the table until the transaction ends. @returns whether the table is empty */
  async lockIfEmpty(): Promise<boolean> {
    const { manager } = this.transaction;
    await manager.query('LOCK TABLE organization IN SHARE ROW EXCLUSIVE MODE');
    return (await manager.count(Organization)) === 0;
  }

  /** Serializes changes of the settings until the transaction ends. */
  async lock(organizationId: string): Promise<void> {
    await this.transaction.lock(`organization:${organizationId}`);
  }

  async exists(id: string): Promise<boolean> {
    return this.transaction.manager.existsBy(Organization, { id });
  }

  /** Returns all organizations without their logos, in the order in which they were created. */
  async all(): Promise<Pick<Organization, 'id' | 'name' | 'createdAt' | 'activatedAt'>[]> {
    return this.transaction.manager.find(Organization, {
      select: { id: true, name: true, createdAt: true, activatedAt: true },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  async find(organizationId: string): Promise<Organization> {
    return this.transaction.manager.findOneByOrFail(Organization, { id: organizationId });
  }

  /** @returns whether the organization was inactive; true for only one of several concurrent calls */
  async activate(organizationId: string, now: Date): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(
      Organization,
      { id: organizationId, activatedAt: IsNull() },
      { activatedAt: now },
    );
    return affected === 1;
  }

  /** @param from null to end the requirement @returns whether the organization had the other setting */
  async requireSecondFactor(organizationId: string, from: Date | null): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(
      Organization,
      { id: organizationId, secondFactorRequiredFrom: from ? IsNull() : Not(IsNull()) },
      { secondFactorRequiredFrom: from },
    );
    return affected === 1;
  }

  async storeLogo(organizationId: string, { image, mediaType }: Logo): Promise<void> {
    const changes = { logo: image, logoMediaType: mediaType };
    await this.transaction.manager.update(Organization, { id: organizationId }, changes);
  }

  async logo(organizationId: string): Promise<Logo | undefined> {
    const row = await this.transaction.manager.findOne(Organization, {
      select: { id: true, logo: true, logoMediaType: true },
      where: { id: organizationId },
    });
    return row?.logo && row.logoMediaType ? { image: row.logo, mediaType: row.logoMediaType } : undefined;
  }
}
