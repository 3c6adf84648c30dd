export interface Delivery {
    /** The same in every delivery of the event, so that receivers can recognize duplicates. */
    readonly eventId: string;
    readonly event: string;
    /** Only if the body has a `session_id`. */
    readonly sessionId?: string | null;
    readonly body: Buffer;
    /** The time of this attempt: receivers reject old signatures, and a retry is minutes later. */
    readonly now: Date;
    /** The client's active secret. */
    readonly secret: string;
    /** The client's other valid secret during a rotation. `Service-Signature` has no room for a second signature. */
    readonly otherSecrets?: readonly string[];
}
/** Returns all headers of one delivery attempt (specification, "Events"). */
export declare function deliveryHeaders(delivery: Delivery): Record<string, string>;
