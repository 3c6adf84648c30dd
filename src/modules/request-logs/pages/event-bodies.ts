/** Port: the bodies of webhook events. */
export abstract class EventBodies {
  /** Returns the body of an event of the client, or undefined if the event does not exist or no longer exists. */
  abstract bodyOf(clientId: string, eventId: string): Promise<Buffer | undefined>;
}
