<?php

declare(strict_types=1);

namespace Postrider;

/**
 * Reads whole answers.
 *
 * @internal
 */
final class Answers
{
	private const SHOWN_CHARACTERS = 200;

	/**
	 * @return array<string, mixed>|null
	 * @throws PostriderError
	 */
	public static function read(Request $request, Exchange $exchange): ?array
	{
		$status = $exchange->status();
		if ($status === 204) {
			return null;
		}
		$body = $exchange->body();
		$value = json_decode($body, true);
		if ($status >= 200 && $status < 300) {
			// PHP reads `[]` and `{}` alike.
			$isObject = is_array($value) && $body[strspn($body, " \t\r\n")] === '{';
			if (!$isObject) {
				throw self::wrong($exchange, 'invalid_response', 'The answer is no JSON object');
			}
			return !$request->isPage || Page::isPage($value) ? $value : throw self::wrong($exchange, 'invalid_response', 'The answer is no list');
		}
		$value = $exchange->withoutKey($value);
		$error = is_array($value) ? $value['error'] ?? null : null;
		if ($status >= 400 && is_array($error) && is_string($error['type'] ?? null)) {
			throw self::ours($exchange, $error);
		}
		throw $status >= 400
			? self::wrong($exchange, 'http_error', "The answer has the status $status")
			: self::wrong($exchange, 'invalid_response', "The answer has the status $status, which leads elsewhere");
	}

	/** @param array<string, mixed> $error */
	private static function ours(Exchange $exchange, array $error): PostriderError
	{
		$headers = $exchange->headers();
		return new PostriderError(
			$error['type'],
			is_string($error['message'] ?? null) ? $error['message'] : $error['type'],
			$exchange->status(),
			is_string($error['param'] ?? null) ? $error['param'] : null,
			is_array($error['issues'] ?? null) ? $error['issues'] : [],
			is_array($error['details'] ?? null) ? $error['details'] : [],
			$headers['x-request-id'] ?? (is_string($error['requestId'] ?? null) ? $error['requestId'] : null),
			Retries::readRetryAfter($headers),
			$headers,
		);
	}

	private static function wrong(Exchange $exchange, string $type, string $reason): PostriderError
	{
		$headers = $exchange->headers();
		$body = self::beginning($exchange->withoutKey($exchange->body()));
		return new PostriderError(
			$type,
			$body === '' ? "$reason." : "$reason: $body",
			$exchange->status(),
			requestId: $headers['x-request-id'] ?? null,
			retryAfter: Retries::readRetryAfter($headers),
			headers: $headers,
		);
	}

	/** Returns the first characters of a body that may be anything, as a text. */
	private static function beginning(string $body): string
	{
		$printable = preg_replace('/[^\x20-\x7E]+/', ' ', substr($body, 0, self::SHOWN_CHARACTERS));
		return trim($printable ?? '');
	}
}
