<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Result;

/** The operations of `metrics`. */
final readonly class Metrics extends Resource
{
	/**
	 * Count what became of your mail.
	 *
	 * @param array{from?: string, to?: string, interval?: string, domainId?: string, type?: string, broadcastId?: string, provider?: string, groupBy?: string, tag?: string} $query
	 */
	public function get(array $query = [], array $options = []): Result
	{
		return $this->calls->get('/metrics', [], $query, $options);
	}
}
