import { Injectable } from '@nestjs/common';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { HttpClient } from '../../../infrastructure/http-client/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { readSamlMetadata } from './saml-metadata.js';
import { SamlWorker } from './saml-worker.js';

/** Bytes. */
const MAX_SIZE = 262_144;
const DEADLINE = 5 * SECOND;

/** The columns that are read from the metadata of a provider. */
export type ReadMetadata = Pick<
  SsoConfiguration,
  'metadataXml' | 'metadataUrl' | 'metadataCheckedAt' | 'entityId' | 'ssoUrl' | 'ssoBinding' | 'certificates'
>;

/** Reads the metadata of identity providers, which is pasted or fetched. */
@Injectable()
export class SamlMetadataReader {
  constructor(
    private readonly http: HttpClient,
    private readonly worker: SamlWorker,
    private readonly clock: Clock,
  ) {}

  /** @returns undefined without metadata and URL. @throws ApiError INVALID_FIELD with the reason */
  async read(from: {
    readonly metadata_xml?: string | undefined;
    readonly metadata_url?: string | undefined;
  }): Promise<ReadMetadata | undefined> {
    const { metadata_xml: xml, metadata_url: url } = from;
    const metadataXml = xml ?? (url === undefined ? undefined : await this.fetch(url));
    if (metadataXml === undefined) return undefined;
    const now = this.clock.now();
    const isFetched = xml === undefined;
    return {
      ...readSamlMetadata(await this.worker.run('metadata', 'parse', metadataXml), now),
      metadataXml,
      metadataUrl: isFetched ? (url ?? null) : null,
      metadataCheckedAt: isFetched ? now : null,
    };
  }

  private async fetch(url: string): Promise<string> {
    const { text, problem } = await this.http.getDocument({
      url,
      headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
      maxBytes: MAX_SIZE,
      deadline: DEADLINE,
    });
    if (text && problem === null) return text.text;
    throw INVALID_FIELD.error(`The metadata cannot be fetched. ${problem}`);
  }
}
