export interface Website {
  /** Address of the website. */
  readonly url: string;
  close(): void;
}

export function startWebsite(options: {
  readonly serviceUrl: string;
  readonly connectorUrl?: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly port?: number;
}): Promise<Website>;
