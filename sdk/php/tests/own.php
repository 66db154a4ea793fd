<?php

declare(strict_types=1);

use Postrider\Bytes;
use Postrider\Client;
use Postrider\PostriderError;

/**
 * What the cases in JSON cannot say, without a daemon.
 *
 * @param list<array<string, mixed>> $operations
 */
function ownTests(Suite $suite, array $operations): void
{
    $key = 'svc_dev_secret';
    $client = new Client($key, 'http://127.0.0.1:9');

    $suite->test('every operation has a method, and every method an operation', function () use ($client, $operations): void {
        $methods = methodsOf($client, '');
        $calls = array_column($operations, 'call');
        sort($methods);
        sort($calls);
        same($calls, $methods, 'The list of methods');
    });

    $suite->test('the key is in no dump of a client', function () use ($client, $key): void {
        ob_start();
        var_dump($client);
        $dump = ob_get_clean() . print_r($client, true);
        check(!str_contains($dump, $key), 'A dump has the key.');
    });

    $suite->test('the key is in no error and no trace', function () use ($client, $key): void {
        $error = failure(fn () => $client->topics->get('top_1'));
        check(!str_contains((string) $error . print_r($error->getTrace(), true), $key), 'An error has the key.');
        $error = failure(fn () => new Client("$key\n", 'http://127.0.0.1:9'));
        check(!str_contains((string) $error, $key), 'An error of the key has the key.');
    });

    $suite->test('a client cannot be serialized', function () use ($client): void {
        try {
            serialize($client);
        } catch (\Throwable) {
            return;
        }
        throw new \RuntimeException('It was serialized.');
    });

    $suite->test('a closed client refuses calls', function (): void {
        $client = new Client('svc_dev_a', 'http://127.0.0.1:9');
        $client->close();
        same('closed', failure(fn () => $client->topics->get('top_1'))->type, 'The type');
    });

    $suite->test('the first example of the README is examples/send.php, for Composer', function (): void {
        $readme = file_get_contents(__DIR__ . '/../README.md');
        $example = file_get_contents(__DIR__ . '/../examples/send.php');
        $example = str_replace('/../autoload.php', '/vendor/autoload.php', $example);
        check(str_contains($readme, "```php\n$example```"), 'They differ.');
    });

    $suite->test('a client without a key or an address says what is missing', function (): void {
        same('invalid_argument', failure(fn () => new Client(null, 'http://127.0.0.1:9'))->type, 'The type');
        same('invalid_argument', failure(fn () => new Client('svc_dev_a'))->type, 'The type');
    });

    $suite->test('an option that does not exist is refused', function () use ($client): void {
        same('invalid_argument', failure(fn () => $client->topics->get('top_1', ['timeOut' => 1]))->type, 'The type');
    });

    $suite->test('a body that is not UTF-8 is refused', function () use ($client): void {
        same('invalid_argument', failure(fn () => $client->topics->create(['name' => "\xC3\x28"]))->type, 'The type');
    });
}

/**
 * What needs a daemon.
 */
function daemonTests(Suite $suite, Client $client, string $key, string $hostname): void
{
    $email = static fn (array $more) => [
        'from' => "a@sandbox.$hostname",
        'to' => "delivered@simulator.$hostname",
        'subject' => 'Hi',
        'text' => 'Hi',
        'type' => 'transactional',
        ...$more,
    ];

    $suite->test('a file of 18 MB is attached from an open file, with less than three times its memory', function () use ($client, $email): void {
        $bytes = 18 * 1024 * 1024;
        $file = tmpfile();
        for ($written = 0; $written < $bytes; $written += 1024 * 1024) {
            fwrite($file, random_bytes(1024 * 1024));
        }
        rewind($file);
        memory_reset_peak_usage();
        $before = memory_get_usage();
        $sent = $client->emails->send($email(['attachments' => [['filename' => 'large.bin', 'content' => $file]]]));
        $used = memory_get_peak_usage() - $before;
        check($used < 3 * $bytes, "It took $used bytes.");
        $stream = $client->emails->getAttachment($sent->id, 1);
        $hash = hash_init('sha256');
        foreach ($stream as $part) {
            hash_update($hash, $part);
        }
        rewind($file);
        same(hash('sha256', stream_get_contents($file)), hash_final($hash), 'The hash');
    });

    $suite->test('the first example of the README sends an email, in a project of Composer', function () use ($key): void {
        preg_match('/```php\n(.*?)```/s', file_get_contents(__DIR__ . '/../README.md'), $found);
        $folder = sys_get_temp_dir() . '/postrider-' . bin2hex(random_bytes(8));
        mkdir("$folder/vendor", recursive: true);
        file_put_contents("$folder/first.php", $found[1]);
        file_put_contents("$folder/vendor/autoload.php", '<?php require ' . var_export(dirname(__DIR__) . '/autoload.php', true) . ';');
        $environment = ['SERVICE_API_KEY' => $key, 'SERVICE_BASE_URL' => getenv('CONTRACT_BASE_URL'), ...getenv()];
        $process = proc_open([PHP_BINARY, "$folder/first.php"], [1 => ['pipe', 'w']], $pipes, null, $environment);
        $output = stream_get_contents($pipes[1]);
        proc_close($process);
        array_map(unlink(...), ["$folder/first.php", "$folder/vendor/autoload.php"]);
        array_map(rmdir(...), ["$folder/vendor", $folder]);
        check(preg_match('/^em_\w+ is queued$/', $output) === 1, "It printed $output");
    });

    $suite->test('a post that examples/webhook.php gets is verified', function (): void {
        $port = freePort();
        $environment = ['WEBHOOK_SECRET' => 'whsec_a', ...getenv()];
        $silent = ['file', '/dev/null', 'w'];
        $server = proc_open([PHP_BINARY, '-S', "127.0.0.1:$port", __DIR__ . '/../examples/webhook.php'], [1 => $silent, 2 => $silent], $_, null, $environment);
        try {
            $body = '{"type":"email.delivered","data":{"emailId":"em_1"}}';
            same(204, post($port, $body, Postrider\Webhooks::sign($body, 'whsec_a')), 'The status');
            same(400, post($port, $body, Postrider\Webhooks::sign($body, 'whsec_b')), 'The status of a wrong signature');
        } finally {
            proc_terminate($server);
            proc_close($server);
        }
    });

    $suite->test('an empty file is attached', function () use ($client, $email): void {
        $sent = $client->emails->send($email(['attachments' => [['filename' => 'empty.txt', 'content' => new Bytes('')]]]));
        same('', $client->emails->getAttachment($sent->id, 1)->contents(), 'The file');
    });

    $suite->test('a thousand sends in a row use one connection, which closing ends', function () use ($email): void {
        $case = ['name' => 'sends', 'answers' => [['status' => 200, 'body' => ['id' => 'em_1']]], 'requests' => []];
        ['id' => $id, 'baseUrl' => $baseUrl] = Contract::ask(getenv('CONTRACT_SERVER') . '/cases', $case);
        $before = sockets();
        $own = new Client('svc_dev_a', $baseUrl);
        for ($count = 0; $count < 1_000; $count++) {
            $own->emails->send($email([]));
        }
        $own->close();
        same($before, sockets(), 'The number of sockets');
        same(1, Contract::ask(getenv('CONTRACT_SERVER') . "/cases/$id")['connections'], 'The number of connections');
    });

    $suite->test('an error of a closed answer can be looked at', function () use ($client): void {
        $error = failure(fn () => $client->emails->get('em_1'));
        check($error instanceof PostriderError && $error->requestId !== null && $error->headers !== [], 'It lacks fields.');
    });
}

/** Returns a port of this machine that was free a moment ago. */
function freePort(): int
{
    $server = stream_socket_server('tcp://127.0.0.1:0');
    $port = (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1);
    fclose($server);
    return $port;
}

/** Posts a body to a server that may still be starting, and returns the status. */
function post(int $port, string $body, string $signature): int
{
    $header = ['Content-Type: application/json', "X-Service-Signature: $signature"];
    $context = stream_context_create(['http' => ['method' => 'POST', 'content' => $body, 'header' => $header, 'ignore_errors' => true]]);
    for ($try = 0; $try < 100; $try++) {
        if (@file_get_contents("http://127.0.0.1:$port/", false, $context) !== false) {
            return (int) explode(' ', $http_response_header[0])[1];
        }
        usleep(50_000);
    }
    throw new \RuntimeException('The server does not answer.');
}

/** Returns the number of sockets of this process. */
function sockets(): int
{
    return count(array_filter(glob('/proc/self/fd/*'), static fn (string $fd) => str_starts_with((string) @readlink($fd), 'socket:')));
}

/**
 * Returns the names of all methods of a client's resources.
 *
 * @return list<string>
 */
function methodsOf(object $parent, string $prefix): array
{
    $names = [];
    foreach ((new \ReflectionClass($parent))->getProperties(\ReflectionProperty::IS_PUBLIC) as $property) {
        $resource = $property->getValue($parent);
        $name = $prefix . $property->getName();
        foreach ((new \ReflectionClass($resource))->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
            if (!$method->isConstructor()) {
                $names[] = "$name.{$method->getName()}";
            }
        }
        array_push($names, ...methodsOf($resource, "$name."));
    }
    return $names;
}
