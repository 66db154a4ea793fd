<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;
use Postrider\Stream;

/** The operations of `exports`. */
final readonly class Exports extends Resource
{
	/** Delete an export. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/exports/{id}', [$id], $options);
	}

	/** Retrieve an export. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/exports/{id}', [$id], [], $options);
	}

	/** Download the file of an export. */
	public function getFile(string $id, array $options = []): Stream
	{
		return $this->calls->stream('/exports/{id}/file', [$id], [], $options);
	}

	/**
	 * List exports.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string, kind?: string, audienceId?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/exports', [], $query, $options);
	}
}
