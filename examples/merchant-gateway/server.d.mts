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

/** What a merchant says. `code` is undefined in the first step. */
export type AskMerchant = (
  entered: { readonly user_name: string; readonly password: string },
  code?: string,
) => {
  readonly outcome: 'succeeded' | 'code_required' | 'refused' | 'failed';
  readonly challenge?: { readonly id: string; readonly hint?: string };
};

export function startGateway(options: {
  readonly secret: string;
  readonly port?: number;
  /** Replaces the simulated merchants. */
  readonly merchant?: AskMerchant;
}): Promise<ExampleGateway>;
