<?php

require __DIR__ . '/../autoload.php';

$postrider = new Postrider\Client();
$sent = $postrider->emails->send([
    'from' => 'hello@sandbox.localhost',
    'to' => 'delivered@simulator.localhost',
    'subject' => 'Hello',
    'html' => '<p>It works.</p>',
    'type' => 'transactional',
]);
echo "$sent->id is $sent->status\n";
