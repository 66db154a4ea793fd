<?php

declare(strict_types=1);

namespace Postrider;

/**
 * Says whether a request is made again after an error, and when.
 *
 * @internal
 */
final class Retries
{
	private const FIRST_PAUSE_SECONDS = 0.5;
	private const MAX_RETRY_AFTER_SECONDS = 30.0;

	/** Returns the seconds until the next try, or null when there is none. `$try` counts from 0. */
	public static function pause(Request $request, PostriderError $error, int $try): ?float
	{
		if (!self::mayRepeat($request, $error)) {
			return null;
		}
		$retryAfter = $error->retryAfter ?? 0.0;
		if ($retryAfter > self::MAX_RETRY_AFTER_SECONDS) {
			return null;
		}
		$jitter = 0.5 + random_int(0, 1_000_000) / 2_000_000;
		return max($retryAfter, self::FIRST_PAUSE_SECONDS * 2 ** $try * $jitter);
	}

	private static function mayRepeat(Request $request, PostriderError $error): bool
	{
		if ($error->type === 'rate_limited' || ($error->status === 503 && $error->type === 'unavailable')) {
			return true;
		}
		if ($request->repeat === Repeat::Unsent) {
			$cause = $error->getPrevious();
			return $cause instanceof CurlFailure && $cause->isUnsent();
		}
		return match (true) {
			$error->status === null => $error->type === 'connection_error' || $error->type === 'timeout',
			$error->status === 408, $error->type === 'idempotency_in_progress' => true,
			default => $error->status >= 500,
		};
	}

	/**
	 * Returns the seconds of `Retry-After`, a number or a date; null when it says nothing. A date is compared with the clock of the daemon.
	 *
	 * @param array<string, string> $headers names in lower case
	 */
	public static function readRetryAfter(array $headers): ?float
	{
		$header = $headers['retry-after'] ?? null;
		if ($header === null) {
			return null;
		}
		if (preg_match('/^\d+\z/', $header) === 1) {
			return (float) $header;
		}
		$seconds = (self::readDate($header) ?? 0) - (self::readDate($headers['date'] ?? '') ?? time());
		return $seconds > 0 ? (float) $seconds : null;
	}

	private static function readDate(string $header): ?int
	{
		// PHP reads many other texts as times, such as `-5`.
		$time = preg_match('/^[A-Z][a-z]{2}, /', $header) === 1 ? strtotime($header) : false;
		return $time === false ? null : $time;
	}
}
