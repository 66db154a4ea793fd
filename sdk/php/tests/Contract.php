<?php

declare(strict_types=1);

use Postrider\Bytes;
use Postrider\Client;
use Postrider\Page;
use Postrider\PostriderError;
use Postrider\Result;
use Postrider\Stream;

/** Runs the cases of sdk/contract, as sdk/README.md describes them. */
final class Contract
{
    private const UNTIL_SECONDS = 10.0;
    private const POLL_MICROSECONDS = 100_000;

    /** @param list<array<string, mixed>> $operations */
    public function __construct(private readonly Suite $suite, private readonly string $folder, private readonly array $operations)
    {
    }

    /** @return array<int, mixed> */
    public static function read(string $folder, string $name): array
    {
        return self::arrays(json_decode(file_get_contents("$folder/$name"), flags: JSON_THROW_ON_ERROR));
    }

    /** Objects become arrays, except empty ones, which would look like empty lists. */
    private static function arrays(mixed $value): mixed
    {
        if ($value instanceof stdClass && (array) $value === []) {
            return $value;
        }
        return is_scalar($value) || $value === null ? $value : array_map(self::arrays(...), (array) $value);
    }

    public function calls(Client $client, string $hostname): void
    {
        foreach (self::read($this->folder, 'calls.json') as $case) {
            $this->suite->test($case['name'], function () use ($case, $client, $hostname): void {
                $start = time();
                $variables = [
                    'run' => bin2hex(random_bytes(4)),
                    'hostname' => $hostname,
                    'tomorrow' => gmdate('Y-m-d\TH:i:s.000\Z', $start + 86_400),
                    'dayAfter' => gmdate('Y-m-d\TH:i:s.000\Z', $start + 172_800),
                    'hash' => hash('sha256', 'test'),
                ];
                foreach ($case['steps'] as $step) {
                    $this->step($client, $step, $variables);
                }
            });
        }
    }

    public function wire(string $server): void
    {
        foreach (self::read($this->folder, 'wire.json') as $case) {
            $this->suite->test($case['name'], function () use ($case, $server): void {
                ['id' => $id, 'baseUrl' => $baseUrl] = self::ask("$server/cases", $case);
                try {
                    $this->wireCase($case, $baseUrl);
                } finally {
                    $problems = self::ask("$server/cases/$id")['problems'];
                }
                same([], $problems, 'The list of problems');
            });
        }
    }

    public function signatures(): void
    {
        foreach (self::read($this->folder, 'signatures.json') as $case) {
            $this->suite->test($case['name'], function () use ($case): void {
                $verify = static fn () => Postrider\Webhooks::verify(
                    $case['body'],
                    $case['header'],
                    $case['secret'],
                    $case['tolerance'] ?? Postrider\Webhooks::TOLERANCE,
                    $case['now'],
                );
                if ($case['valid']) {
                    same(json_decode($case['body'], true), $verify()->toArray(), 'The event');
                    $header = Postrider\Webhooks::sign($case['body'], $case['secret'], $case['now']);
                    Postrider\Webhooks::verify($case['body'], $header, $case['secret'], now: $case['now']);
                } else {
                    same('invalid_signature', failure($verify)->type, 'The type');
                }
            });
        }
    }

    /** @param array<string, mixed> $case */
    private function wireCase(array $case, string $baseUrl): void
    {
        $settings = (array) ($case['client'] ?? []);
        $make = static fn () => new Client(
            $settings['key'] ?? 'svc_dev_contract',
            $settings['baseUrl'] ?? $baseUrl . ($settings['pathBefore'] ?? ''),
            $settings['maxRetries'] ?? 2,
            isset($settings['timeoutMs']) ? $settings['timeoutMs'] / 1000 : null,
            isset($settings['deadlineMs']) ? $settings['deadlineMs'] / 1000 : null,
        );
        if (!isset($case['call'])) {
            self::compareError($case['error'], failure($make));
            return;
        }
        $client = $make();
        foreach ($case['before'] ?? [] as $before) {
            $this->call($client, $before['call'], $before['args'], []);
        }
        $from = hrtime(true);
        $none = [];
        $this->step($client, $case, $none);
        $tookMs = (hrtime(true) - $from) / 1e6;
        check($tookMs <= ($case['maxMs'] ?? INF), "The call took $tookMs ms.");
    }

    /**
     * @param array<string, mixed> $step
     * @param array<string, mixed> $variables
     */
    private function step(Client $client, array $step, array &$variables): void
    {
        $given = self::filled($step, $variables);
        $end = microtime(true) + (isset($step['until']) ? self::UNTIL_SECONDS : 0.0);
        while (true) {
            try {
                $answer = $this->expect($client, $given);
                break;
            } catch (\Throwable $error) {
                if (microtime(true) >= $end) {
                    throw new \RuntimeException("$step[call]: " . $error->getMessage(), previous: $error);
                }
                usleep(self::POLL_MICROSECONDS);
            }
        }
        foreach ($step['save'] ?? [] as $name => $path) {
            $variables[$name] = array_reduce(explode('.', $path), static fn (mixed $value, string $part) => $value[$part] ?? null, $answer);
        }
    }

    /**
     * @param array<string, mixed> $step
     * @return array<string, mixed>|null
     */
    private function expect(Client $client, array $step): ?array
    {
        $options = self::options((array) ($step['options'] ?? []));
        $call = fn () => $this->call($client, $step['call'], $step['args'], $options);
        if (isset($step['error'])) {
            // A stream may fail only when it is read.
            self::compareError($step['error'], failure(static fn () => ($answer = $call()) instanceof Stream ? $answer->contents() : $answer));
            return null;
        }
        $answer = $call();
        if ($answer instanceof Stream) {
            $text = $answer->contents();
            check(str_contains($text, $step['text']), 'The stream is ' . substr($text, 0, 300));
            return null;
        }
        if (isset($step['items'])) {
            check($answer instanceof Page, 'The answer is no page.');
            $count = 0;
            foreach ($answer as $item) {
                check($item instanceof Result, 'An item is no result.');
                $count++;
            }
            check($count >= $step['items'], "The list has $count items.");
        }
        $value = $answer?->toArray();
        if (array_key_exists('result', $step)) {
            check(self::contains($value, $step['result']), 'The answer is ' . json_encode($value));
        }
        return $value;
    }

    /** @return array<string, mixed> */
    private static function options(array $options): array
    {
        $own = [];
        foreach ($options as $name => $value) {
            $until = $name === 'cancelAfterMs' ? microtime(true) + $value / 1000 : 0.0;
            $own += match ($name) {
                'idempotencyKey' => ['idempotencyKey' => $value],
                'timeoutMs' => ['timeout' => $value / 1000],
                'deadlineMs' => ['deadline' => $value / 1000],
                'cancelAfterMs' => ['isCanceled' => static fn () => microtime(true) >= $until],
            };
        }
        return $own;
    }

    private function call(Client $client, string $call, array $args, array $options): Result|Page|Stream|null
    {
        $names = explode('.', $call);
        $method = array_pop($names);
        $resource = array_reduce($names, static fn (object $parent, string $name) => $parent->$name, $client);
        [$operation] = array_values(array_filter($this->operations, static fn (array $one) => $one['call'] === $call));
        // Options come last, after what was left out before them.
        $most = substr_count($operation['path'], '{') + (int) isset($operation['body']) + (int) isset($operation['query']);
        $own = array_map(static fn (mixed $value) => $value instanceof stdClass ? [] : self::bytes($value), $args);
        while (count($own) < $most) {
            $own[] = [];
        }
        return $resource->$method(...$own, ...[$options]);
    }

    private static function bytes(mixed $value): mixed
    {
        if (!is_array($value)) {
            return $value;
        }
        return isset($value['$bytes']) ? new Bytes(base64_decode($value['$bytes'])) : array_map(self::bytes(...), $value);
    }

    /** @param array<string, mixed> $variables */
    private static function filled(mixed $value, array $variables): mixed
    {
        if (is_string($value)) {
            return preg_replace_callback('/\$\{(\w+)\}/', static fn (array $found) => $variables[$found[1]], $value);
        }
        if (!is_array($value)) {
            return $value;
        }
        return isset($value['$']) ? $variables[$value['$']] : array_map(static fn (mixed $one) => self::filled($one, $variables), $value);
    }

    private static function contains(mixed $value, mixed $expected): bool
    {
        if ($expected instanceof stdClass) {
            return is_array($value);
        }
        if (!is_array($expected)) {
            return $value === $expected || (is_numeric($value) && is_numeric($expected) && $value == $expected);
        }
        if (isset($expected['$any'])) {
            return gettype($value) === $expected['$any'];
        }
        if (!is_array($value) || (array_is_list($expected) && count($value) !== count($expected))) {
            return false;
        }
        foreach ($expected as $name => $item) {
            if (!array_key_exists($name, $value) || !self::contains($value[$name], $item)) {
                return false;
            }
        }
        return true;
    }

    /** @param array<string, mixed> $expected */
    private static function compareError(array $expected, PostriderError $error): void
    {
        $got = [
            'type' => $error->type,
            'status' => $error->status,
            'param' => $error->param,
            'message' => $error->getMessage(),
            'issues' => $error->issues,
            'requestId' => $error->requestId,
            'retryAfter' => $error->retryAfter,
            'idempotencyKey' => $error->idempotencyKey,
        ];
        check(self::contains($got, $expected), 'The error is ' . json_encode($got));
    }

    /**
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    public static function ask(string $url, ?array $body = null): array
    {
        $content = $body === null ? [] : ['method' => 'POST', 'content' => json_encode($body)];
        $context = stream_context_create(['http' => [...$content, 'header' => 'Content-Type: application/json']]);
        return json_decode(file_get_contents($url, false, $context), true, flags: JSON_THROW_ON_ERROR);
    }
}
