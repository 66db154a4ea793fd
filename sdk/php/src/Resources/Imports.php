<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;
use Postrider\Stream;

/** The operations of `imports`. */
final readonly class Imports extends Resource
{
	/** Delete an import. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/imports/{id}', [$id], $options);
	}

	/** Retrieve an import. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/imports/{id}', [$id], [], $options);
	}

	/** Download the rows that were not imported. */
	public function getErrors(string $id, array $options = []): Stream
	{
		return $this->calls->stream('/imports/{id}/errors', [$id], [], $options);
	}

	/**
	 * List imports.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string, kind?: string, audienceId?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/imports', [], $query, $options);
	}
}
