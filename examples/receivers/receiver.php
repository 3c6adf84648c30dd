<?php

/**
 * Verifies webhooks. Copy `verify` and what it uses; the rest tries it out on the vectors beside this file.
 *
 *     php receiver.php        (PHP 8.0 or later)
 */

declare(strict_types=1);

/** Seconds that a delivery may be old, or a clock wrong. */
const TOLERANCE = 300;

/**
 * Whether the service sent this, to you, now.
 *
 * @param string $body the bytes as they came: file_get_contents('php://input')
 * @param array<string, string> $headers names and values: getallheaders()
 * @param string $secret the client secret, as it is
 * @param int|null $now seconds since the epoch
 */
function verify(string $body, array $headers, string $secret, ?int $now = null): bool
{
    // In this order nothing is parsed that did not come from the service.
    return verifyStandardWebhooks($body, $headers, $secret, $now ?? time())
        && verifyServiceSignature($body, $headers, $secret);
}

/** `Service-Signature` alone: it covers the event, the session and the length of the body, and no more. */
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

/** Standard Webhooks: the id, the time and every byte of the body. */
function verifyStandardWebhooks(string $body, array $headers, string $secret, int $now): bool
{
    $id = valueOf($headers, 'webhook-id');
    $timestamp = valueOf($headers, 'webhook-timestamp');
    if ($id === '' || !preg_match('/\A[0-9]{1,15}\z/', $timestamp) || abs($now - (int) $timestamp) > TOLERANCE) {
        return false;
    }
    $expected = 'v1,' . sign($secret, "$id.$timestamp.$body");
    foreach (explode(' ', valueOf($headers, 'webhook-signature')) as $given) {
        // In constant time: how long it takes tells nothing about where they differ.
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}

function sign(string $secret, string $message): string
{
    return base64_encode(hash_hmac('sha256', $message, $secret, true));
}

/** @param array<string, string> $headers */
function valueOf(array $headers, string $name): string
{
    return array_change_key_case($headers, CASE_LOWER)[$name] ?? '';
}

function main(string $folder): void
{
    $read = fn (string $file): array => json_decode(file_get_contents("$folder/$file"), true, 512, JSON_THROW_ON_ERROR);
    $count = 0;
    $expectThat = function (string $name, bool $isRight) use (&$count): void {
        if (!$isRight) {
            fwrite(STDERR, "Wrong about: $name\n");
            exit(1);
        }
        $count++;
    };
    foreach ($read('service-signature.json')['vectors'] as $vector) {
        $headers = ['Service-Signature' => $vector['signature']];
        $expectThat($vector['name'], verifyServiceSignature($vector['body'], $headers, $vector['secret']));
    }
    foreach ($read('deliveries.json')['deliveries'] as $delivery) {
        ['body' => $body, 'headers' => $headers, 'secret' => $secret, 'now' => $now] = $delivery;
        $expectThat($delivery['name'], verify($body, $headers, $secret, $now) === $delivery['accepted']);
    }
    echo "ok $count\n";
}

if (realpath($_SERVER['SCRIPT_FILENAME'] ?? '') === __FILE__) {
    main($argv[1] ?? __DIR__);
}
