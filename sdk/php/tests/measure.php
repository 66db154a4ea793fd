<?php

/*
 * Measures one thing, and prints a line of JSON. `npm run bench -- --only sdks` runs it against servers of its own:
 *
 *     php tests/measure.php sends COUNT
 *     php tests/measure.php parallel CALLERS EACH
 *     php tests/measure.php faults FIRST COUNT CALLERS MAX_RETRIES
 *     php tests/measure.php attachment file|bytes FILE
 *     php tests/measure.php import
 *
 * PHP has no threads, so that the number of callers must be 1.
 */

declare(strict_types=1);

use Postrider\Bytes;
use Postrider\Client;
use Postrider\PostriderError;

const ROUNDS = 10;
const WARM_UP = 200;
/** A send that fails so often in a row has found something else than the faults that are asked for. */
const MAX_CALLS = 20;
const EMAIL = [
    'from' => 'bench@sender.test',
    'to' => ['b@recipient.test'],
    'subject' => 'Hello',
    'html' => '<p>It works.</p>',
    'type' => 'transactional',
];

[, $task] = $argv;
$arguments = array_slice($argv, 2);
if ($task !== 'import') {
    require __DIR__ . '/../autoload.php';
}
$result = match ($task) {
    'sends' => sends((int) $arguments[0]),
    'parallel' => parallel((int) $arguments[0] * (int) $arguments[1]),
    'faults' => faults((int) $arguments[0], (int) $arguments[1], (int) $arguments[3]),
    'attachment' => attachment(...$arguments),
    'import' => importTime(),
};
echo json_encode($result, JSON_FORCE_OBJECT), "\n";
if ($task === 'parallel') {
    stream_get_contents(STDIN);
}

/** Alternates rounds of sends and of bare requests. Times are medians of single calls, in microseconds; processor times are means. */
function sends(int $count): array
{
    $client = new Client();
    $handle = curl_init();
    $kinds = ['send' => fn () => $client->emails->send(EMAIL), 'bare' => fn () => bareRequest($handle)];
    $times = ['send' => [], 'bare' => []];
    $cpu = ['send' => 0.0, 'bare' => 0.0];
    foreach ($kinds as $call) {
        for ($i = 0; $i < WARM_UP; $i++) {
            $call();
        }
    }
    for ($round = 0; $round < ROUNDS; $round++) {
        foreach ($kinds as $kind => $call) {
            $before = processorUs();
            for ($i = 0; $i < $count / ROUNDS; $i++) {
                $started = hrtime(true);
                $call();
                $times[$kind][] = (hrtime(true) - $started) / 1000;
            }
            $cpu[$kind] += (processorUs() - $before) / $count;
        }
    }
    $client->close();
    return [
        'sendUs' => median($times['send']),
        'bareUs' => median($times['bare']),
        'sendCpuUs' => $cpu['send'],
        'bareCpuUs' => $cpu['bare'],
    ];
}

function bareRequest(CurlHandle $handle): mixed
{
    curl_setopt_array($handle, [
        CURLOPT_URL => getenv('SERVICE_BASE_URL') . '/v1/emails',
        CURLOPT_HTTPHEADER => [
            'Authorization: Bearer ' . getenv('SERVICE_API_KEY'),
            'Content-Type: application/json',
            'Idempotency-Key: ' . bin2hex(random_bytes(16)),
        ],
        CURLOPT_POSTFIELDS => json_encode(EMAIL, JSON_THROW_ON_ERROR),
        CURLOPT_RETURNTRANSFER => true,
    ]);
    $answer = curl_exec($handle);
    return json_decode(is_string($answer) ? $answer : throw new RuntimeException(curl_error($handle)), true, flags: JSON_THROW_ON_ERROR);
}

function parallel(int $count): array
{
    $client = new Client();
    for ($i = 0; $i < $count; $i++) {
        $client->emails->send(EMAIL);
    }
    $client->close();
    return [];
}

/** Sends numbered emails, and asks again with the key of the error as long as a call fails. */
function faults(int $first, int $count, int $maxRetries): array
{
    $client = new Client(maxRetries: $maxRetries);
    $again = 0;
    for ($number = $first; $number < $first + $count; $number++) {
        $options = [];
        for ($calls = 1; ; $calls++) {
            try {
                $client->emails->send(['subject' => "Number $number"] + EMAIL, $options);
                break;
            } catch (PostriderError $error) {
                if ($calls === MAX_CALLS) {
                    throw $error;
                }
                $options = ['idempotencyKey' => $error->idempotencyKey];
                $again++;
            }
        }
    }
    $client->close();
    return ['again' => $again];
}

/** Returns by how many bytes the memory of this process grows at most, the file in memory included. */
function attachment(string $kind, string $file): array
{
    $client = new Client();
    $send = fn (mixed $content) => $client->emails->send(EMAIL + ['attachments' => [['filename' => 'a', 'content' => $content]]]);
    $send(new Bytes(str_repeat("\0", 1024 * 1024)));
    $before = memoryBytes('VmRSS');
    $send($kind === 'file' ? fopen($file, 'rb') : new Bytes(file_get_contents($file)));
    $client->close();
    return ['bytes' => memoryBytes('VmHWM') - $before];
}

/** Reads a line of proc(5)'s status: VmRSS is the resident memory, VmHWM its peak. */
function memoryBytes(string $name): int
{
    preg_match("/^$name:\s+(\d+) kB$/m", file_get_contents('/proc/self/status'), $found);
    return (int) $found[1] * 1024;
}

/** Returns the time that a client takes that is ready to send, with every class of the library. */
function importTime(): array
{
    $started = hrtime(true);
    $before = processorUs();
    require __DIR__ . '/../autoload.php';
    new Client();
    foreach ([...glob(__DIR__ . '/../src/*.php'), ...glob(__DIR__ . '/../src/Resources/*.php')] as $file) {
        class_exists(str_replace([__DIR__ . '/../src/', '.php', '/'], ['Postrider\\', '', '\\'], $file));
    }
    return ['ms' => (hrtime(true) - $started) / 1e6, 'cpuMs' => (processorUs() - $before) / 1000];
}

function processorUs(): float
{
    $usage = getrusage();
    return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1e6 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
}

/** @param list<float> $values */
function median(array $values): float
{
    sort($values);
    return $values[intdiv(count($values), 2)];
}
