<?php

declare(strict_types=1);

namespace Postrider;

/**
 * One request and its answer, which is read as far as it is wanted.
 *
 * @internal
 */
final class Exchange
{
    /** Longest wait within curl, so that a clock that was asked to wait for long is asked again. */
    private const MAX_SELECT_SECONDS = 1.0;

    private int $status = 0;
    /** @var array<string, string> */
    private array $headers = [];
    private bool $hasHead = false;
    private bool $isDone = false;
    private string $buffer = '';

    public function __construct(
        private ?\CurlMultiHandle $multi,
        private readonly \CurlHandle $handle,
        private readonly Limits $limits,
    ) {
        curl_setopt($handle, CURLOPT_HEADERFUNCTION, $this->takeHeader(...));
        curl_setopt($handle, CURLOPT_WRITEFUNCTION, function (\CurlHandle $_, string $bytes): int {
            $this->buffer .= $bytes;
            return strlen($bytes);
        });
        curl_multi_add_handle($multi, $handle);
    }

    public function __destruct()
    {
        $this->end();
    }

    public function status(): int
    {
        return $this->status;
    }

    /** @return array<string, string> names in lower case */
    public function headers(): array
    {
        return $this->headers;
    }

    public function body(): string
    {
        return $this->buffer;
    }

    /** @throws PostriderError */
    public function readHead(): void
    {
        while (!$this->hasHead && !$this->isDone) {
            $this->step();
        }
    }

    /**
     * Reads the whole answer.
     *
     * @throws PostriderError
     */
    public function finish(int $maxBytes): void
    {
        while (!$this->isDone) {
            $this->step();
            if (strlen($this->buffer) > $maxBytes) {
                $this->end();
                throw new PostriderError('invalid_response', "The answer has more than $maxBytes bytes.", $this->status, headers: $this->headers);
            }
        }
        $this->end();
    }

    /**
     * Returns the next bytes of the body, or null after its end.
     *
     * @throws PostriderError
     */
    public function nextPart(): ?string
    {
        $this->limits->nextPart();
        while ($this->buffer === '' && !$this->isDone) {
            $this->step();
        }
        $part = $this->buffer;
        $this->buffer = '';
        if ($part === '') {
            $this->end();
            return null;
        }
        return $part;
    }

    /** Ends the request, however far its answer was read. */
    public function end(): void
    {
        $this->isDone = true;
        if ($this->multi !== null) {
            curl_multi_remove_handle($this->multi, $this->handle);
            $this->multi = null;
        }
    }

    private function step(): void
    {
        try {
            $wait = min($this->limits->left(), self::MAX_SELECT_SECONDS);
        } catch (PostriderError $error) {
            $this->end();
            throw $error;
        }
        curl_multi_exec($this->multi, $running);
        $message = curl_multi_info_read($this->multi);
        if ($message !== false) {
            $this->isDone = true;
            $this->check($message['result']);
        } elseif ($running > 0 && $this->buffer === '') {
            curl_multi_select($this->multi, $wait);
        }
    }

    private function check(int $result): void
    {
        if ($result === CURLE_OK && $this->hasHead) {
            return;
        }
        $this->end();
        $text = $result === CURLE_OK ? 'The answer has no head.' : curl_strerror($result) ?? 'curl has failed.';
        $failure = new CurlFailure($text, $result);
        throw new PostriderError('connection_error', "The connection to the daemon has failed: $text", previous: $failure);
    }

    private function takeHeader(\CurlHandle $_, string $line): int
    {
        $text = trim($line);
        if (preg_match('#^HTTP/[\d.]+ (\d{3})#', $text, $found) === 1) {
            // An answer such as 103 may come before the one that counts.
            $this->status = (int) $found[1];
            $this->headers = [];
        } elseif ($text === '') {
            $this->hasHead = $this->status >= 200;
        } elseif (str_contains($text, ':')) {
            [$name, $value] = explode(':', $text, 2);
            $this->headers[strtolower($name)] = trim($value);
        }
        return strlen($line);
    }
}
