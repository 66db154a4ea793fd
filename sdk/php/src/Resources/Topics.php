<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `topics`. */
final readonly class Topics extends Resource
{
	/**
	 * Create a topic.
	 *
	 * @param array{name: string, description?: ?string, defaultOptIn?: bool} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/topics', [], $body, [], $options);
	}

	/** Delete a topic. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/topics/{id}', [$id], $options);
	}

	/** Retrieve a topic. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/topics/{id}', [$id], [], $options);
	}

	/**
	 * List topics.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/topics', [], $query, $options);
	}

	/**
	 * Update a topic.
	 *
	 * @param array{name?: string, description?: ?string, defaultOptIn?: bool} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/topics/{id}', [$id], $body, $options);
	}
}
