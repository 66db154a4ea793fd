<?php

// The suite of the PHP library: its own tests, and the contract when the variables of sdk/README.md are set.

declare(strict_types=1);

require __DIR__ . '/../autoload.php';
require __DIR__ . '/Suite.php';
require __DIR__ . '/Contract.php';
require __DIR__ . '/own.php';
require __DIR__ . '/safety.php';

$suite = new Suite();
$folder = getenv('CONTRACT_DIR') ?: __DIR__ . '/../../contract';
$operations = Contract::read($folder, 'operations.json');
ownTests($suite, $operations);
safetyTests($suite);
$contract = new Contract($suite, $folder, $operations);
$contract->signatures();
if (getenv('CONTRACT_SERVER') !== false) {
    $contract->wire(getenv('CONTRACT_SERVER'));
    scriptedTests($suite, getenv('CONTRACT_SERVER'));
}
if (getenv('CONTRACT_BASE_URL') !== false) {
    $client = new Postrider\Client(getenv('CONTRACT_KEY'), getenv('CONTRACT_BASE_URL'));
    $contract->calls($client, getenv('CONTRACT_HOSTNAME'));
    daemonTests($suite, $client, getenv('CONTRACT_KEY'), getenv('CONTRACT_HOSTNAME'));
}
$suite->end();
