<?php

declare(strict_types=1);

namespace Postrider;

/**
 * A request, the same for every try.
 *
 * @internal
 */
final readonly class Request
{
	public function __construct(
		public string $method,
		/** Path and query, from `/v1`. */
		public string $target,
		public Repeat $repeat,
		public ?string $body = null,
		public string $mediaType = 'application/json',
		public ?string $idempotencyKey = null,
		public bool $isStream = false,
		public bool $isPage = false,
	) {
	}

	/**
	 * Returns path and query. Each segment is encoded by itself.
	 *
	 * @param string $path such as `/topics/{id}`
	 * @param list<string|int> $segments the values of its parameters
	 * @param array<string, mixed> $query entries that are null are left out
	 * @throws PostriderError `invalid_argument`
	 */
	public static function target(string $path, array $segments, array $query = []): string
	{
		$target = preg_replace_callback('/\{\w+\}/', static function (array $_) use (&$segments): string {
			$segment = (string) array_shift($segments);
			if ($segment === '' || $segment === '.' || $segment === '..') {
				throw new PostriderError('invalid_argument', 'An id is empty, or consists of dots.');
			}
			return rawurlencode($segment);
		}, "/v1$path");
		$given = array_map(
			static fn (mixed $value) => is_bool($value) ? ($value ? 'true' : 'false') : $value,
			array_filter($query, static fn (mixed $value) => $value !== null),
		);
		return $given === [] ? $target : $target . '?' . http_build_query($given, '', '&', PHP_QUERY_RFC3986);
	}
}
