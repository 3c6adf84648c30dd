<?php

/**
 * A webhook receiver with Laravel: copy it to app/Http/Controllers/WebhookController.php, and receiver.php to app. Add this entry to
 * config/services.php:
 *
 *     'webhooks' => ['secret' => env('WEBHOOK_SECRET')],
 *
 * `WEBHOOK_SECRET` is the key of the endpoint (`whsec_…` or `whpk_…`), or the client secret. During a rotation, it has both keys,
 * separated by a space. Add this route to routes/web.php. With the middleware `web`, Laravel refuses requests without the token of a
 * form (419). In routes/api.php, it refuses more than 60 requests in a minute (429).
 *
 *     Route::post('/webhooks', \App\Http\Controllers\WebhookController::class)->withoutMiddleware('web');
 */

declare(strict_types=1);

namespace App\Http\Controllers;

use Illuminate\Http\Request;
use Illuminate\Http\Response;
use Illuminate\Support\Facades\Log;

require_once app_path('receiver.php');

final class WebhookController
{
    private const MAX_BODY = 1_048_576;

    public function __invoke(Request $request): Response
    {
        $body = $request->getContent();
        if (strlen($body) > self::MAX_BODY) {
            return new Response(status: 413);
        }
        $secrets = collect(explode(' ', config('services.webhooks.secret')));
        if (!$secrets->contains(fn (string $secret) => verify($body, $request->headers->all(), $secret))) {
            return new Response(status: 401);
        }
        // Not `$request->input()`: Laravel trims its texts, and replaces empty ones with null.
        $event = json_decode($body, true);
        // Add the event to your queue here, unless it contains this ID already, and process it afterward: not on the connection `sync`,
        // where jobs run before the response.
        Log::info($request->header('webhook-id') . ' ' . $event['event']);
        return new Response();
    }
}
