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

  /** Returns whether the queue is so long that deleting all of it in one statement would take long. */
  abstract hasLongQueue(endpointId: string): Promise<boolean>;

  /** Creates the lane of a new endpoint: otherwise, the first publications would wait for a change that creates it. */
  abstract open(endpointId: string): Promise<void>;

  /** Pauses deliveries. @returns whether this changed anything */
  abstract pause(endpointId: string, now: Date): Promise<boolean>;

  /** Resumes deliveries. @returns whether this changed anything */
  abstract resume(endpointId: string): Promise<boolean>;

  /**
   * Leaves the deliveries of an endpoint that has a key or headers of its own to processes that know these: those of release 0.3.0
   * regard the lane as paused.
   */
  abstract reserve(endpointId: string): Promise<void>;

  /** Remembers that the owners of the endpoint know its state. */
  abstract noteNotified(endpointId: string, now: Date): Promise<void>;

  /**
   * Drops a page of the waiting deliveries of an endpoint if it is disabled, and locks the endpoint.
   *
   * @returns the time of the oldest dropped event, if there was any, and whether there may be more
   */
  abstract dropDeliveries(
    endpointId: string,
  ): Promise<{ readonly oldest: Date | null; readonly hasMore: boolean }>;

  /** Forgets what is known about the endpoint's receiver, because it has a new URL: its width, failures and health. */
  abstract forgetReceiver(endpointId: string): Promise<void>;
}
