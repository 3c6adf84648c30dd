<?php

/**
 * Verifies webhooks. Copy `verify` and the functions that it calls. The rest of this file
 * runs the test vectors in this folder.
 *
 *     php receiver.php        (PHP 8.0 or later)
 */

declare(strict_types=1);

/** Maximum age of a delivery in seconds, which also covers clock differences. */
const TOLERANCE = 300;

/** The service sends one signature, or a few during a rotation. Others are not compared. */
const MAX_SIGNATURES = 10;

/** Secrets of clients and keys of endpoints are longer. */
const MIN_KEY_BYTES = 24;

/**
 * Returns whether the service sent this delivery to you just now.
 *
 * @param string $body the raw bytes of the body: file_get_contents('php://input')
 * @param array<string, string|string[]> $headers names and values: getallheaders(), or the headers of a framework
 * @param string $secret the key of the endpoint (`whsec_…` or `whpk_…`), or the client secret, unchanged
 * @param int|null $now seconds since the epoch
 */
function verify(string $body, array $headers, string $secret, ?int $now = null): bool
{
    // This order ensures that only data from the service is parsed. `Service-Signature` is always made with the client secret.
    if (!verifyStandardWebhooks($body, $headers, $secret, $now ?? time())) {
        return false;
    }
    return str_starts_with($secret, 'whsec_') || str_starts_with($secret, 'whpk_')
        || verifyServiceSignature($body, $headers, $secret);
}

/** Verifies `Service-Signature`, which covers only the event, the session and the length of the body. */
function verifyServiceSignature(string $body, array $headers, string $secret): bool
{
    $payload = json_decode($body, true);
    if (!is_array($payload) || !is_string($payload['event'] ?? null)) {
        return false;
    }
    $signed = 'Content-Length|' . strlen($body)
        . '|Content-Type|application/json|Encryption-Type|HMAC-SHA256|event|' . $payload['event'];
    if (array_key_exists('session_id', $payload)) {
        if (!is_string($payload['session_id'])) {
            return false;
        }
        $signed .= '|session_id|' . $payload['session_id'];
    }
    return hash_equals(sign($secret, $signed), valueOf($headers, 'service-signature'));
}

/** Verifies the Standard Webhooks signature, which covers the ID, the time and every byte of the body. */
function verifyStandardWebhooks(string $body, array $headers, string $secret, int $now): bool
{
    $id = valueOf($headers, 'webhook-id');
    $timestamp = valueOf($headers, 'webhook-timestamp');
    if ($id === '' || !preg_match('/\A[0-9]{1,15}\z/', $timestamp) || abs($now - (int) $timestamp) > TOLERANCE) {
        return false;
    }
    $message = "$id.$timestamp.$body";
    $isPublicKey = str_starts_with($secret, 'whpk_');
    // Anyone can sign with an empty key, or guess a short one.
    if (strlen(keyOf($secret)) < MIN_KEY_BYTES) {
        return false;
    }
    $expected = 'v1,' . sign($secret, $message);
    $signatures = explode(' ', valueOf($headers, 'webhook-signature'), MAX_SIGNATURES + 1);
    foreach (array_slice($signatures, 0, MAX_SIGNATURES) as $given) {
        // Returns at once if the lengths differ. Otherwise compares in constant time, so that the duration does not
        // reveal where the texts differ.
        if ($isPublicKey ? isSignedBy($secret, $message, $given) : hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}

function sign(string $secret, string $message): string
{
    return base64_encode(hash_hmac('sha256', $message, keyOf($secret), true));
}

function keyOf(string $secret): string
{
    return str_starts_with($secret, 'whsec_') ? (string) base64_decode(substr($secret, 6), true) : $secret;
}

/** Returns whether an Ed25519 signature is of the public key. */
function isSignedBy(string $publicKey, string $message, string $given): bool
{
    $key = (string) base64_decode(substr($publicKey, 5), true);
    $signature = str_starts_with($given, 'v1a,') ? (string) base64_decode(substr($given, 4), true) : '';
    return strlen($key) === SODIUM_CRYPTO_SIGN_PUBLICKEYBYTES
        && strlen($signature) === SODIUM_CRYPTO_SIGN_BYTES
        && sodium_crypto_sign_verify_detached($signature, $message, $key);
}

/** @param array<string, string|string[]> $headers */
function valueOf(array $headers, string $name): string
{
    $values = (array) (array_change_key_case($headers, CASE_LOWER)[$name] ?? '');
    return (string) reset($values);
}

function main(string $folder): void
{
    $read = fn (string $file): array => json_decode(file_get_contents("$folder/$file"), true, 512, JSON_THROW_ON_ERROR);
    $count = 0;
    $expectThat = function (string $name, bool $isRight) use (&$count): void {
        if (!$isRight) {
            fwrite(STDERR, "Failed: $name\n");
            exit(1);
        }
        $count++;
    };
    foreach ($read('service-signature.json')['vectors'] as $vector) {
        $headers = ['Service-Signature' => $vector['signature']];
        $expectThat($vector['name'], verifyServiceSignature($vector['body'], $headers, $vector['secret']));
    }
    foreach ([...$read('deliveries.json')['deliveries'], ...$read('endpoint-keys.json')['deliveries']] as $delivery) {
        ['body' => $body, 'headers' => $headers, 'secret' => $secret, 'now' => $now] = $delivery;
        $expectThat($delivery['name'], verify($body, $headers, $secret, $now) === $delivery['accepted']);
    }
    echo "ok $count\n";
}

if (realpath($_SERVER['SCRIPT_FILENAME'] ?? '') === __FILE__) {
    main($argv[1] ?? __DIR__);
}
