<?php

declare(strict_types=1);

namespace Postrider;

/**
 * The kinds of calls of which all operations consist. Segments are the values of the parameters of a path, each a `string|int`, in their order.
 *
 * @internal
 */
final readonly class Calls
{
	public function __construct(private Transport $transport)
	{
	}

	public function get(string $path, array $segments, array $query, array $options): Result
	{
		return new Result($this->json(Repeat::Always, 'GET', $path, $segments, null, $query, $options) ?? []);
	}

	public function change(string $method, string $path, array $segments, array $body, array $options): Result
	{
		return new Result($this->json(Repeat::Always, $method, $path, $segments, $body, [], $options) ?? []);
	}

	public function delete(string $path, array $segments, array $options): void
	{
		$this->json(Repeat::Always, 'DELETE', $path, $segments, null, [], $options);
	}

	/** Makes something: the request is repeated only when it surely did nothing. */
	public function post(string $path, array $segments, ?array $body, array $query, array $options): Result
	{
		return new Result($this->json(Repeat::Unsent, 'POST', $path, $segments, $body, $query, $options) ?? []);
	}

	/** Sends mail once: every try has the same key. */
	public function send(string $path, ?array $body, array $options, array $segments = []): Result
	{
		$read = Options::read($options);
		$key = $read->idempotencyKey ?? 'sdk-' . bin2hex(random_bytes(16));
		if (preg_match('/^[\x21-\x7E](?:[\x20-\x7E]*[\x21-\x7E])?\z/', $key) !== 1) {
			throw new PostriderError('invalid_argument', 'An idempotency key is a text in ASCII.');
		}
		$json = $body === null ? null : Attachments::toJson($body);
		$request = new Request('POST', Request::target($path, $segments), Repeat::Keyed, $json, idempotencyKey: $key);
		return new Result([...($this->transport->json($request, $read) ?? []), 'idempotencyKey' => $key]);
	}

	public function page(string $path, array $segments, array $query, array $options): Page
	{
		$request = new Request('GET', Request::target($path, $segments, $query), Repeat::Always, isPage: true);
		$answer = $this->transport->json($request, Options::read($options)) ?? [];
		return new Page($answer, $query, fn (array $next) => $this->page($path, $segments, $next, $options));
	}

	public function stream(string $path, array $segments, array $query, array $options): Stream
	{
		$request = new Request('GET', Request::target($path, $segments, $query), Repeat::Always, isStream: true);
		return $this->transport->stream($request, Options::read($options));
	}

	/**
	 * Sends a file of CSV, from a text or an open file.
	 *
	 * @param string|resource $csv
	 */
	public function upload(string $path, array $segments, mixed $csv, array $query, array $options): Result
	{
		$text = is_resource($csv) ? stream_get_contents($csv) : $csv;
		if (!is_string($text)) {
			throw new PostriderError('invalid_argument', 'The file cannot be read.');
		}
		$target = Request::target($path, $segments, $query);
		$request = new Request('POST', $target, Repeat::Unsent, $text, 'text/csv');
		return new Result($this->transport->json($request, Options::read($options)) ?? []);
	}

	/** @return array<string, mixed>|null */
	private function json(
		Repeat $repeat,
		string $method,
		string $path,
		array $segments,
		?array $body,
		array $query,
		array $options,
	): ?array {
		$json = $body === null ? null : Attachments::toJson($body);
		$request = new Request($method, Request::target($path, $segments, $query), $repeat, $json);
		return $this->transport->json($request, Options::read($options));
	}
}
