/**
 * Port: the events that an endpoint can receive. The module `webhooks` has the catalog of events, and depends on this
 * module.
 */
export abstract class EventNames {
  abstract readonly all: readonly string[];
}
