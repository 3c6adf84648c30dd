import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ServiceConfiguration, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { CounterMetric, HistogramMetric, Metrics } from '../../infrastructure/metrics/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { SpanKind, Tracing } from '../../infrastructure/tracing/index.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { GatewayClient, GatewayError, type GatewayResponse } from './gateway-client.js';
import { MerchantGatewayConfiguration } from './merchant-gateway.configuration.js';
import { MerchantSignOutsRepository, type SignOut } from './merchant-sign-outs.repository.js';

const REQUESTS = new CounterMetric({
  name: 'mcs_merchant_gateway_requests_total',
  help: 'Requests to the merchant gateway, by operation (`keys`, `sign_in`, `code` or `undo`) and outcome: `success` for every valid response, `error` if there was none, or `withheld` because the last five requests failed (those of `undo` count apart).',
  labels: ['operation', 'outcome'],
});
const DURATION = new HistogramMetric({
  name: 'mcs_merchant_gateway_request_duration_seconds',
  help: 'Duration of requests to the merchant gateway, with or without a response.',
  labels: ['operation'],
});

/** The sign-in of a user at a merchant. If it is repeated with the same ID, the outcome is that of the first request. */
export interface SignInRequest {
  readonly signInId: string;
  readonly environment: PlatformEnvironment;
  readonly clientId: string;
  readonly merchantId: number;
  readonly externalUserId: string;
}

/** The credentials that the user entered. Must not be stored or logged. */
export interface MerchantCredentials {
  readonly userName: string;
  readonly password: string;
}

export type SignInOutcome =
  | { readonly outcome: 'succeeded' }
  /** The merchant has sent the user a one-time code. `submitCode()` requires the ID of the challenge. */
  | { readonly outcome: 'codeRequired'; readonly challengeId: string; readonly hint?: string | undefined }
  /** The credentials or the code are wrong. The user can try again. */
  | { readonly outcome: 'incorrect' }
  /** The merchant does not let the user sign in, whatever the user enters. */
  | { readonly outcome: 'denied' }
  /** The gateway did not respond. The user can try again: the sign-in is repeated with the same ID. */
  | { readonly outcome: 'unknown' };

/**
 * Signs users in to merchants in production, through a system of the platform. Waits at most 30 seconds for a response. If
 * requests fail repeatedly, sends none for a while (`CircuitBreaker`).
 */
@Injectable()
export class MerchantGatewayService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Merchant gateway');
  private readonly requests = this.metrics.counter(REQUESTS);
  private readonly durations = this.metrics.histogram(DURATION);
  private readonly circuit = new CircuitBreaker();
  /** The breaker of the job that ends sign-ins, whose failures must not stop those that users wait for. */
  private readonly circuitOfUndo = new CircuitBreaker();
  private readonly client: GatewayClient | undefined;

  constructor(
    { address }: MerchantGatewayConfiguration,
    private readonly service: ServiceConfiguration,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
    private readonly signOuts: MerchantSignOutsRepository,
    private readonly clock: Clock,
  ) {
    this.client = address && new GatewayClient(address, clock);
  }

  onApplicationBootstrap(): void {
    if (this.client || !this.service.isProduction || !this.service.serves('connector')) return;
    this.logger.warn(
      'MERCHANT_GATEWAY_URL is not set: sign-in to merchants is not configured, and agents in production cannot create sign-in links',
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client?.close();
  }

  get isConfigured(): boolean {
    return this.client !== undefined;
  }

  /** Whether the gateway responded to at least one of the last five requests. Sends no request. */
  get isProbablyAvailable(): boolean {
    return this.isConfigured && !this.circuit.isOpen;
  }

  /** Returns whether the gateway responds. Requests its keys, unless it has sent them within the last minute. */
  async isAvailable(): Promise<boolean> {
    if (!this.circuit.isOpen && this.client?.hasFreshKey) return true;
    return (await this.request('keys', (client) => client.encryption({ isFresh: true }))) !== undefined;
  }

  async signIn(signIn: SignInRequest, { userName, password }: MerchantCredentials): Promise<SignInOutcome> {
    const { signInId: sign_in_id, clientId, merchantId, externalUserId, environment } = signIn;
    const message = {
      sign_in_id,
      environment,
      client_id: clientId,
      merchant_id: merchantId,
      external_user_id: externalUserId,
    };
    const secret = { sign_in_id, user_name: userName, password };
    return toOutcome(
      await this.request('sign_in', (client) => client.post('/sign-ins', message, 'credentials', secret)),
    );
  }

  async submitCode({ signInId }: SignInRequest, challengeId: string, code: string): Promise<SignInOutcome> {
    const message = { sign_in_id: signInId, challenge_id: challengeId };
    const path = `/sign-ins/${signInId}/code`;
    const secret = { sign_in_id: signInId, code };
    return toOutcome(await this.request('code', (client) => client.post(path, message, 'code', secret)));
  }

  /** Undoes a sign-in, or ends one that waits for a code. @returns whether the gateway confirmed it */
  async undo(signInId: string): Promise<boolean> {
    return (await this.request('undo', (client) => client.undo(signInId).then(() => true))) ?? false;
  }

  /**
   * Records that sign-ins have to be undone, in the open transaction. `MerchantSignOutsJob` sends the requests when no process waits
   * for the responses of the sign-ins anymore, maybe in another process: this one may lack the settings of the gateway. Does nothing
   * for sign-ins in development, which the gateway does not know, and for those that are null.
   */
  async undoLater(signIns: readonly (SignOut & Pick<SignInRequest, 'environment'>)[]): Promise<void> {
    const real = signIns.filter(({ environment }) => environment === 'production');
    await this.signOuts.add(real, this.clock.now());
  }

  /** @returns undefined if there was no valid response, or the request was withheld */
  private async request<Result>(
    operation: string,
    send: (client: GatewayClient) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { client } = this;
    if (!client) return undefined;
    const circuit = operation === 'undo' ? this.circuitOfUndo : this.circuit;
    if (!circuit.admit()) {
      this.requests.inc({ operation, outcome: 'withheld' });
      return undefined;
    }
    const startedAt = performance.now();
    try {
      const options = () => ({ kind: SpanKind.CLIENT, attributes: {} });
      const result = await this.tracing.inSpan(`merchant gateway ${operation}`, options, () => send(client));
      circuit.succeed();
      this.requests.inc({ operation, outcome: 'success' });
      return result;
    } catch (error) {
      circuit.fail();
      this.requests.inc({ operation, outcome: 'error' });
      this.logger.error(`A request to the merchant gateway failed (${operation}): ${problemIn(error)}`);
      return undefined;
    } finally {
      this.durations.observe({ operation }, (performance.now() - startedAt) / SECOND);
    }
  }
}

/** Returns why the gateway cannot be used, or undefined if it can. */
export async function checkMerchantGateway(
  configuration: MerchantGatewayConfiguration,
): Promise<string | undefined> {
  const client = configuration.address && new GatewayClient(configuration.address, new Clock());
  return client
    ?.encryption()
    .then(() => undefined, problemIn)
    .finally(() => client.close());
}

/** Leaves out the messages of libraries, which may quote what was sent. */
function problemIn(error: unknown): string {
  if (error instanceof GatewayError) return error.message;
  const { name = 'Error', code } = error as Partial<NodeJS.ErrnoException>;
  return `There was no valid response (${code ?? name}).`;
}

function toOutcome(response: GatewayResponse | undefined): SignInOutcome {
  switch (response?.outcome) {
    case 'succeeded':
      return { outcome: 'succeeded' };
    case 'code_required': {
      const { id, hint } = response.challenge;
      return { outcome: 'codeRequired', challengeId: id, hint: hint ?? undefined };
    }
    case 'refused':
      return { outcome: 'incorrect' };
    case 'failed':
      return { outcome: 'denied' };
    default:
      return { outcome: 'unknown' };
  }
}
