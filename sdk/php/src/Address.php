<?php

declare(strict_types=1);

namespace Postrider;

/**
 * Checks the address of a daemon and the key that goes there.
 *
 * @internal
 */
final class Address
{
	private const TEST_KEY = 'svc_dev_';

	/**
	 * Returns the address without slashes at its end.
	 *
	 * @throws PostriderError `invalid_argument`, `insecure_base_url`
	 */
	public static function read(string $baseUrl, #[\SensitiveParameter] string $key): string
	{
		if (preg_match('/^[\x21-\x7E]+\z/', $key) !== 1) {
			throw new PostriderError('invalid_argument', 'The API key has characters that no key has.');
		}
		$parts = parse_url($baseUrl);
		$scheme = strtolower($parts['scheme'] ?? '');
		$host = strtolower($parts['host'] ?? '');
		$isAddress = ($scheme === 'http' || $scheme === 'https') && $host !== '';
		if (!$isAddress || isset($parts['query']) || isset($parts['fragment']) || isset($parts['user'])) {
			throw new PostriderError('invalid_argument', 'The address of a daemon is such as https://mail.example.com.');
		}
		if ($scheme === 'http' && !str_starts_with($key, self::TEST_KEY) && !self::isThisMachine($host)) {
			throw new PostriderError('insecure_base_url', "A live key would be readable on the way to $host: use https.");
		}
		return rtrim($baseUrl, '/');
	}

	private static function isThisMachine(string $host): bool
	{
		return $host === 'localhost'
			|| str_ends_with($host, '.localhost')
			|| $host === '[::1]'
			|| preg_match('/^127(\.\d{1,3}){3}\z/', $host) === 1;
	}
}
