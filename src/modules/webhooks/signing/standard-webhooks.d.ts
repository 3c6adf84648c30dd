/** The signed parts of a message in the Standard Webhooks specification. */
export interface SignedMessage {
    readonly id: string;
    readonly timestampSeconds: number;
    readonly body: Buffer;
}
/** Returns the header `webhook-signature` with a signature by each secret. */
export declare function standardSignatures(message: SignedMessage, secrets: readonly string[]): string;
/**
 * Returns one signature of the header `webhook-signature` (Standard Webhooks 1.0.0, "Signature scheme", symmetric). The key is the UTF-8
 * text of the client secret; the secret is not decoded from base64.
 */
export declare function standardSignature({ id, timestampSeconds, body }: SignedMessage, secret: string): string;
