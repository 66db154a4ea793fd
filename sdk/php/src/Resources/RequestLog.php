<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;

/** The operations of `requestLog`. */
final readonly class RequestLog extends Resource
{
	/**
	 * List requests.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string, method?: string, keyId?: string, path?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/request-log', [], $query, $options);
	}
}
