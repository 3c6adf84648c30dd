/**
 * Port: the events that an endpoint can receive. The module `webhooks` has the catalog of events, and depends on this
 * module.
 */
export abstract class EventNames {
  abstract readonly all: readonly string[];
  /** Returns when the event is sent, as a sentence. */
  abstract describe(name: string): string;
}
