<?php

declare(strict_types=1);

namespace Postrider;

/**
 * What has arrived of an answer. It does not know the handle that calls it, so that PHP frees both, and the connection, as soon as nobody holds them.
 *
 * @internal
 */
final class Received
{
	public int $status = 0;
	/** @var array<string, string> names in lower case */
	public array $headers = [];
	public bool $hasHead = false;
	/** Bytes of the body that were not taken yet. */
	public string $buffer = '';

	public function takeHeader(\CurlHandle $_, string $line): int
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

	public function takeBytes(\CurlHandle $_, string $bytes): int
	{
		$this->buffer .= $bytes;
		return strlen($bytes);
	}
}
