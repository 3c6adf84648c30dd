/** How deliveries to an endpoint went recently. */
export interface EndpointHealth {
  readonly lastSuccessAt: Date | null;
  readonly consecutiveFailures: number;
  /** Whether the lane of the endpoint has a reduced width, after 5 consecutive failures. */
  readonly throttled: boolean;
  readonly paused: boolean;
}

/** The lanes of endpoints: the state of the queue for each endpoint. The module that delivers webhooks implements it. */
export abstract class EndpointLanes {
  /** Returns the health by endpoint. Endpoints that never had a delivery are missing. */
  abstract healthOf(endpointIds: readonly string[]): Promise<ReadonlyMap<string, EndpointHealth>>;

  /** Returns the number of events in the queue of an endpoint, or the limit if there are more. */
  abstract waitingFor(endpointId: string, limit: number): Promise<number>;

  /** Pauses deliveries. @returns whether this changed anything */
  abstract pause(endpointId: string, now: Date): Promise<boolean>;

  /** Resumes deliveries. @returns whether this changed anything */
  abstract resume(endpointId: string): Promise<boolean>;

  /** Forgets what is known about the endpoint's receiver, because it has a new URL: its width, failures and health. */
  abstract forgetReceiver(endpointId: string): Promise<void>;
}
