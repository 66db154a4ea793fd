<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `approvals`. */
final readonly class Approvals extends Resource
{
	/** Retrieve an approval. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/approvals/{id}', [$id], [], $options);
	}

	/**
	 * List approvals.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, state?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/approvals', [], $query, $options);
	}
}
