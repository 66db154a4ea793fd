<?php

declare(strict_types=1);

use Postrider\Attachments;
use Postrider\Client;
use Postrider\PostriderError;
use Postrider\Retries;
use Postrider\Webhooks;

/** Keys, memory, proxies and files, without a server. */
function safetyTests(Suite $suite): void
{
    $suite->test('an empty secret verifies nothing', function (): void {
        same('invalid_signature', failure(fn () => Webhooks::verify('{}', Webhooks::sign('{}', ''), ''))->type, 'The type');
    });

    $suite->test('the key is in no export of a client, and its resources cannot be serialized', function (): void {
        $client = new Client('svc_dev_secret', 'http://127.0.0.1:9');
        check(!str_contains(var_export($client, true), 'svc_dev_secret'), 'An export has the key.');
        try {
            serialize($client->emails);
        } catch (\Exception) {
            return;
        }
        throw new \RuntimeException('They were serialized.');
    });

    $suite->test('the memory of a call is free when it has ended', function (): void {
        $client = new Client('svc_dev_a', 'http://127.0.0.1:9', 0);
        $bytes = 5_000_000;
        $call = static fn () => failure(fn () => $client->topics->create(['name' => str_repeat('a', $bytes)]));
        $call();
        $before = residentBytes();
        for ($count = 0; $count < 10; $count++) {
            $call();
        }
        $grown = residentBytes() - $before;
        check($grown < 3 * $bytes, "Ten calls left $grown bytes.");
    });

    $suite->test("a proxy's answer to CONNECT is not the daemon's", function (): void {
        $code = '$s = stream_socket_server("tcp://127.0.0.1:0"); echo stream_socket_get_name($s, false), "\n";'
            . '$c = stream_socket_accept($s); fread($c, 4096); fwrite($c, "HTTP/1.1 200 OK\r\nVia: a\r\n\r\n"); sleep(9);';
        $proxy = proc_open([PHP_BINARY, '-r', $code], [1 => ['pipe', 'w']], $pipes);
        putenv('https_proxy=http://' . trim(fgets($pipes[1])));
        try {
            $client = new Client('svc_dev_a', 'https://mail.example.test', 0, 0.5);
            same('timeout', failure(fn () => $client->emails->getRaw('em_1'))->type, 'The type');
        } finally {
            putenv('https_proxy');
            proc_terminate($proxy);
            proc_close($proxy);
        }
    });

    $suite->test('a Retry-After of a date is compared with the Date of the answer', function (): void {
        $headers = ['retry-after' => 'Sat, 06 Nov 2094 08:49:40 GMT', 'date' => 'Sat, 06 Nov 2094 08:49:37 GMT'];
        same(3.0, Retries::readRetryAfter($headers), 'The pause');
        same(null, Retries::readRetryAfter(['retry-after' => $headers['date'], 'date' => $headers['retry-after']]), 'The pause of a date in the past');
    });

    $suite->test('a file that gives few bytes at a time is attached whole', function (): void {
        stream_wrapper_register('drops', Drops::class);
        $json = Attachments::toJson(['content' => fopen('drops://', 'rb')]);
        same(base64_encode(Drops::WHOLE), json_decode($json)->content, 'The content');
    });

    $suite->test('a file that gives nothing before its end is refused', function (): void {
        [$file, $other] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        stream_set_blocking($file, false);
        fwrite($other, 'abcd');
        same('invalid_argument', failure(fn () => Attachments::toJson(['content' => $file]))->type, 'The type');
    });
}

/** What needs the scripted server. */
function scriptedTests(Suite $suite, string $server): void
{
    $baseUrl = static fn (array ...$answers) => Contract::ask("$server/cases", ['name' => 'own', 'answers' => $answers, 'requests' => []])['baseUrl'];

    $suite->test('a proxy of the environment gets no request over plain http', function () use ($baseUrl): void {
        $client = new Client('svc_live_a', $baseUrl(['status' => 200, 'body' => ['id' => 'top_1']]), 0);
        putenv('http_proxy=http://127.0.0.1:9');
        try {
            same('top_1', $client->topics->get('top_1')->id, 'The id');
        } finally {
            putenv('http_proxy');
        }
    });

    $suite->test('a large body is sent whole again when the kept connection dies', function () use ($server): void {
        $answers = [['status' => 200, 'body' => ['id' => 'top_1']], ['fault' => 'close'], ['status' => 200, 'body' => ['id' => 'em_1']]];
        $case = Contract::ask("$server/cases", ['name' => 'own', 'answers' => $answers, 'requests' => []]);
        $client = new Client('svc_dev_a', $case['baseUrl']);
        $client->topics->get('top_1');
        $text = str_repeat('0123456789', 300_000);
        same('em_1', $client->emails->send(['text' => $text])->id, 'The id');
        $requests = array_slice(Contract::ask("$server/cases/{$case['id']}")['requests'], 1);
        check(count($requests) >= 2, 'It was not sent again.');
        foreach ($requests as $request) {
            same(['POST', json_encode(['text' => $text])], [$request['method'], $request['body']], 'The request');
        }
    });

    $suite->test('an attachment of 25 MiB takes at most three times its memory', function () use ($baseUrl): void {
        $bytes = 25 * 1024 * 1024;
        $file = tempnam(sys_get_temp_dir(), 'postrider');
        file_put_contents($file, str_repeat('a', $bytes));
        $address = $baseUrl(['status' => 200, 'body' => ['id' => 'em_1']]);
        $environment = ['SERVICE_API_KEY' => 'svc_dev_a', 'SERVICE_BASE_URL' => $address, ...getenv()];
        foreach (['file', 'bytes'] as $kind) {
            $command = [PHP_BINARY, '-d', 'memory_limit=-1', __DIR__ . '/measure.php', 'attachment', $kind, $file];
            $process = proc_open($command, [1 => ['pipe', 'w']], $pipes, null, $environment);
            $used = json_decode(stream_get_contents($pipes[1]), true)['bytes'];
            proc_close($process);
            check($used < 3 * $bytes, "As $kind it took $used bytes.");
        }
        unlink($file);
    });

    $suite->test('an answer that shows the key gives an error without it', function () use ($baseUrl): void {
        $key = 'svc_dev_secret';
        $ours = ['error' => ['type' => 'a', 'message' => "No $key", 'param' => $key, 'issues' => [['path' => 'a', 'message' => $key]], 'details' => ['a' => $key]]];
        $shown = ['x-request-id' => $key, 'x-shown' => "Bearer $key"];
        foreach ([$ours, "<p>Authorization: Bearer $key</p>"] as $body) {
            $client = new Client($key, $baseUrl(['status' => 400, 'headers' => $shown, 'body' => $body]), 0);
            $error = failure(fn () => $client->topics->get('top_1'));
            check(!str_contains("$error" . print_r($error, true), $key), 'The error has the key.');
        }
    });

    $suite->test('a call that is cancelled in its pause has the key of its send', function () use ($baseUrl): void {
        $client = new Client('svc_dev_a', $baseUrl(['status' => 500, 'body' => '']));
        $until = microtime(true) + 0.15;
        $options = ['idempotencyKey' => 'order-1', 'isCanceled' => static fn () => microtime(true) > $until];
        $error = failure(fn () => $client->emails->send([], $options));
        same(['canceled', 'order-1'], [$error->type, $error->idempotencyKey], 'The error');
    });

    $suite->test('a time limit of the caller grows with the body too', function () use ($baseUrl): void {
        $client = new Client('svc_dev_a', $baseUrl(['fault' => 'hang']), 0, 0.1);
        $from = microtime(true);
        same('timeout', failure(fn () => $client->topics->create(['name' => str_repeat('a', 50_000)]))->type, 'The type');
        $took = microtime(true) - $from;
        check($took > 0.5, "It took $took s.");
    });

    $suite->test('a file that takes less than the answer is an error', function () use ($baseUrl): void {
        $client = new Client('svc_dev_a', $baseUrl(['status' => 200, 'body' => 'Subject: Hi']));
        same('invalid_argument', failure(fn () => $client->emails->getRaw('em_1')->copyTo(fopen('/dev/full', 'wb')))->type, 'The type');
    });

    $suite->test('a stream that nobody reads ends with its last variable', function () use ($baseUrl): void {
        $client = new Client('svc_dev_a', $baseUrl(['fault' => 'huge']));
        $before = sockets();
        $stream = $client->emails->getRaw('em_1');
        check(sockets() > $before, 'The stream has no connection.');
        unset($stream);
        same($before, sockets(), 'The number of sockets');
    });
}

/** Returns the memory of this process, also that of libraries. */
function residentBytes(): int
{
    preg_match('/^VmRSS:\s+(\d+) kB/m', file_get_contents('/proc/self/status'), $found);
    return (int) $found[1] * 1024;
}

/** A file that gives four bytes, then none, and so on, as a pipe may that does not block. */
final class Drops
{
    public const WHOLE = 'four bytes at a time';

    /** @var resource|null */
    public mixed $context;
    private int $place = 0;
    private bool $isEmpty = true;

    public function stream_open(): bool
    {
        return true;
    }

    public function stream_read(): string
    {
        $this->isEmpty = !$this->isEmpty;
        $drop = $this->isEmpty ? '' : substr(self::WHOLE, $this->place, 4);
        $this->place += strlen($drop);
        return $drop;
    }

    public function stream_eof(): bool
    {
        return $this->place === strlen(self::WHOLE);
    }
}
