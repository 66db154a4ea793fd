<?php

// An endpoint for webhooks: WEBHOOK_SECRET=… php -S 127.0.0.1:8080 examples/webhook.php

declare(strict_types=1);

require __DIR__ . '/../autoload.php';

try {
    // The time and the signature are read from the header, the time is compared with the clock, HMAC-SHA256 of the time and the raw body is
    // computed with the secret, and both are compared in constant time.
    $event = Postrider\Webhooks::verify(
        file_get_contents('php://input'),
        $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '',
        getenv('WEBHOOK_SECRET') ?: '',
    );
} catch (Postrider\PostriderError $error) {
    http_response_code(400);
    exit($error->type);
}
error_log("$event->type {$event->data->emailId}");
http_response_code(204);
