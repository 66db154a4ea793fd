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

	private readonly Received $received;
	private bool $isDone = false;

	public function __construct(
		private ?\CurlMultiHandle $multi,
		private ?\CurlHandle $handle,
		private readonly Limits $limits,
		private readonly \SensitiveParameterValue $key,
	) {
		$this->received = new Received();
		curl_setopt($handle, CURLOPT_HEADERFUNCTION, $this->received->takeHeader(...));
		curl_setopt($handle, CURLOPT_WRITEFUNCTION, $this->received->takeBytes(...));
		curl_multi_add_handle($multi, $handle);
	}

	public function __destruct()
	{
		$this->end();
	}

	public function status(): int
	{
		return $this->received->status;
	}

	/** @return array<string, string> names in lower case */
	public function headers(): array
	{
		return $this->withoutKey($this->received->headers);
	}

	public function body(): string
	{
		return $this->received->buffer;
	}

	/** Returns a value with nothing of the key in its texts, because an answer may show the headers of its request. */
	public function withoutKey(mixed $value): mixed
	{
		return match (true) {
			is_string($value) => str_replace($this->key->getValue(), '[key]', $value),
			is_array($value) => array_map($this->withoutKey(...), $value),
			default => $value,
		};
	}

	/** @throws PostriderError */
	public function readHead(): void
	{
		while (!$this->received->hasHead && !$this->isDone) {
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
			if (strlen($this->received->buffer) > $maxBytes) {
				$this->end();
				throw new PostriderError('invalid_response', "The answer has more than $maxBytes bytes.", $this->status(), headers: $this->headers());
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
		while ($this->received->buffer === '' && !$this->isDone) {
			$this->step();
		}
		$part = $this->received->buffer;
		$this->received->buffer = '';
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
			$this->handle = null;
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
		} elseif ($running > 0 && $this->received->buffer === '') {
			curl_multi_select($this->multi, $wait);
		}
	}

	private function check(int $result): void
	{
		if ($result === CURLE_OK && $this->received->hasHead) {
			return;
		}
		$this->end();
		$text = $result === CURLE_OK ? 'The answer has no head.' : curl_strerror($result) ?? 'curl has failed.';
		$failure = new CurlFailure($text, $result);
		throw new PostriderError('connection_error', "The connection to the daemon has failed: $text", previous: $failure);
	}
}
