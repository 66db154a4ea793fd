<?php

declare(strict_types=1);

namespace Postrider;

/** Signatures of webhook posts and of posts of inbound routes (section 6 of the specification). */
final class Webhooks
{
	public const TOLERANCE = 300;

	/**
	 * Returns the event of a post. Nothing is parsed before the signature is right.
	 *
	 * @param string $body the raw body, as it arrived
	 * @param string $header the header `X-Service-Signature`
	 * @param int $tolerance seconds by which the time of the signature may differ from the clock
	 * @param int|null $now Unix seconds; null is the clock
	 * @throws PostriderError `invalid_signature`
	 */
	public static function verify(
		string $body,
		string $header,
		#[\SensitiveParameter] string $secret,
		int $tolerance = self::TOLERANCE,
		?int $now = null,
	): Result {
		if ($secret === '') {
			// Everybody can sign with it, and a variable that is not set is read as one.
			throw self::refused('there is no secret to check it with');
		}
		$time = null;
		$signatures = [];
		foreach (explode(',', $header) as $part) {
			[$name, $value] = [...explode('=', trim($part), 2), ''];
			if ($name === 't') {
				$time = preg_match('/^\d{1,15}\z/', $value) === 1 ? $value : throw self::refused('its time is no number');
			} elseif ($name === 'v1') {
				$signatures[] = $value;
			}
		}
		if ($time === null || $signatures === []) {
			throw self::refused('its header has no time or no signature');
		}
		if (abs(($now ?? time()) - (int) $time) > $tolerance) {
			throw self::refused('its time is too far from now');
		}
		$expected = hash_hmac('sha256', "$time.$body", $secret);
		$isRight = false;
		foreach ($signatures as $signature) {
			// All are compared, so that the time says nothing.
			$isRight = hash_equals($expected, $signature) || $isRight;
		}
		if (!$isRight) {
			throw self::refused('it has another signature');
		}
		$event = json_decode($body, true);
		return is_array($event) ? new Result($event) : throw self::refused('its body is no JSON object');
	}

	/**
	 * Returns the header that signs a body, for tests.
	 *
	 * @param int|null $time Unix seconds; null is the clock
	 */
	public static function sign(string $body, #[\SensitiveParameter] string $secret, ?int $time = null): string
	{
		$time ??= time();
		return "t=$time,v1=" . hash_hmac('sha256', "$time.$body", $secret);
	}

	private static function refused(string $reason): PostriderError
	{
		return new PostriderError('invalid_signature', "The post is not genuine: $reason.");
	}
}
