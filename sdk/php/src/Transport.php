<?php

declare(strict_types=1);

namespace Postrider;

/**
 * Makes the tries of a call, and waits between them. Requests whose answers are JSON share a connection, and each stream has one of its own.
 *
 * @internal
 */
final class Transport
{
	private const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
	/** The daemon closes connections that were idle for 75 seconds. */
	private const MAX_IDLE_SECONDS = 60;
	private const SECONDS_PER_TRY = 30.0;
	private const BYTES_PER_SECOND = 100_000;
	private const DEADLINE_SECONDS = 120.0;
	private const MAX_COPIED_BYTES = 1024 * 1024;

	/** It keeps the connection. */
	private ?\CurlMultiHandle $multi = null;
	private bool $isClosed = false;

	public function __construct(
		private readonly string $baseUrl,
		private readonly \SensitiveParameterValue $key,
		private readonly int $maxRetries,
		private readonly ?float $timeout,
		private readonly ?float $deadline,
	) {
	}

	/** @return array<string, mixed> nothing of the key is shown */
	public function __debugInfo(): array
	{
		return ['baseUrl' => $this->baseUrl];
	}

	public function close(): void
	{
		$this->isClosed = true;
		$this->multi = null;
	}

	/**
	 * Makes a call whose answer is JSON, or has no body.
	 *
	 * @return array<string, mixed>|null null for an answer without a body
	 * @throws PostriderError
	 */
	public function json(Request $request, Options $options): ?array
	{
		return $this->repeat($request, $options, function (Exchange $exchange) use ($request): ?array {
			$exchange->finish(self::MAX_ANSWER_BYTES);
			return Answers::read($request, $exchange);
		});
	}

	/**
	 * Makes a call whose answer is a stream.
	 *
	 * @throws PostriderError
	 */
	public function stream(Request $request, Options $options): Stream
	{
		return $this->repeat($request, $options, function (Exchange $exchange) use ($request): Stream {
			$exchange->readHead();
			if ($exchange->status() >= 300) {
				$exchange->finish(self::MAX_ANSWER_BYTES);
				Answers::read($request, $exchange);
			}
			return new Stream($exchange);
		});
	}

	/**
	 * @template T
	 * @param \Closure(Exchange): T $read
	 * @return T
	 */
	private function repeat(Request $request, Options $options, \Closure $read): mixed
	{
		try {
			return $this->tries($request, $options, $read);
		} catch (PostriderError $error) {
			throw $request->idempotencyKey === null ? $error : $error->withIdempotencyKey($request->idempotencyKey);
		}
	}

	/**
	 * @template T
	 * @param \Closure(Exchange): T $read
	 * @return T
	 */
	private function tries(Request $request, Options $options, \Closure $read): mixed
	{
		if ($this->isClosed) {
			throw new PostriderError('closed', 'The client is closed.');
		}
		$allowance = strlen($request->body ?? '') / self::BYTES_PER_SECOND;
		$perTry = ($options->timeout ?? $this->timeout ?? self::SECONDS_PER_TRY) + $allowance;
		$whole = $options->deadline ?? $this->deadline ?? max(self::DEADLINE_SECONDS, 2 * $perTry);
		$limits = new Limits(self::now() + $whole, $perTry, $options->isCanceled);
		for ($try = 0; ; $try++) {
			try {
				return $read($this->exchange($request, $limits));
			} catch (PostriderError $error) {
				if ($try > 0 && $request->method === 'DELETE' && $error->type === 'not_found') {
					return null;
				}
				$pause = $try < $this->maxRetries ? Retries::pause($request, $error, $try) : null;
				if ($pause === null || self::now() + $pause >= $limits->endsAt) {
					throw $error;
				}
				$limits->sleep($pause);
			}
		}
	}

	private function exchange(Request $request, Limits $limits): Exchange
	{
		$handle = curl_init();
		$headers = [
			"Authorization: Bearer {$this->key->getValue()}",
			'User-Agent: postrider-php/' . Client::VERSION,
			'Accept-Encoding: identity',
			'Accept: */*',
			// Without this, curl waits for 100 Continue before a large body.
			'Expect:',
		];
		if ($request->idempotencyKey !== null) {
			$headers[] = "Idempotency-Key: $request->idempotencyKey";
		}
		if ($request->body !== null) {
			$headers[] = "Content-Type: $request->mediaType";
		} elseif ($request->method === 'POST' || $request->method === 'PUT') {
			$headers[] = 'Content-Length: 0';
		}
		curl_setopt_array($handle, [
			CURLOPT_URL => $this->baseUrl . $request->target,
			CURLOPT_CUSTOMREQUEST => $request->method,
			CURLOPT_HTTPHEADER => $headers,
			CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_1,
			CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
			CURLOPT_FOLLOWLOCATION => false,
			// The head of a proxy's answer to CONNECT is none of the daemon's.
			CURLOPT_SUPPRESS_CONNECT_HEADERS => true,
			CURLOPT_PATH_AS_IS => true,
			CURLOPT_NOSIGNAL => true,
			CURLOPT_MAXAGE_CONN => self::MAX_IDLE_SECONDS,
			// curl itself repeats a request whose kept connection has died, whatever its method is.
			CURLOPT_FRESH_CONNECT => $request->repeat === Repeat::Unsent,
		]);
		if (strncasecmp($this->baseUrl, 'http:', 5) === 0) {
			// A proxy of the environment would read the key, also that of a daemon on this machine.
			curl_setopt($handle, CURLOPT_PROXY, '');
		}
		if ($request->body !== null) {
			self::setBody($handle, $request->body);
		}
		// A stream may still be read while other calls are made.
		$multi = $request->isStream ? curl_multi_init() : ($this->multi ??= curl_multi_init());
		return new Exchange($multi, $handle, $limits->nextTry(), $this->key);
	}

	/** curl copies a body that it is given, so that a large one is read piece by piece. */
	private static function setBody(\CurlHandle $handle, string $body): void
	{
		if (strlen($body) <= self::MAX_COPIED_BYTES) {
			curl_setopt($handle, CURLOPT_POSTFIELDS, $body);
			return;
		}
		$sent = 0;
		curl_setopt_array($handle, [
			CURLOPT_UPLOAD => true,
			CURLOPT_INFILESIZE => strlen($body),
			CURLOPT_READFUNCTION => static function (\CurlHandle $_, mixed $_file, int $bytes) use ($body, &$sent): string {
				$part = substr($body, $sent, $bytes);
				$sent += strlen($part);
				return $part;
			},
		]);
	}

	private static function now(): float
	{
		return hrtime(true) / 1e9;
	}
}
