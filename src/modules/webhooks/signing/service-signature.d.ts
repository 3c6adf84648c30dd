/** The signed parts of a delivery (specification, "Signature"): the length of the body, not its bytes. */
export interface SignedParts {
    readonly event: string;
    /** Not signed if the body has none. */
    readonly sessionId?: string | null;
    /** Size of the body in bytes. */
    readonly contentLength: number;
}
/** Returns the header `Service-Signature`: the HMAC-SHA256 with the client secret, in base64. */
export declare function serviceSignature(parts: SignedParts, secret: string): string;
