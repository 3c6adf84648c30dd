export interface ExampleGateway {
  readonly url: string;
  /** By ID. */
  readonly signIns: ReadonlyMap<
    string,
    { readonly target: object; readonly response: { readonly outcome: string } }
  >;
  rotate(): Promise<void>;
  close(): void;
}

export function startGateway(options: {
  readonly secret: string;
  readonly port?: number;
}): Promise<ExampleGateway>;
