<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `segments`. */
final readonly class Segments extends Resource
{
	/**
	 * Count the contacts that a filter finds.
	 *
	 * @param array{audienceId: string, filter: array{op: string, rules: list<array{field?: string, cmp?: string, value?: mixed, op?: string, rules?: list<array<string, mixed>>}>}} $body
	 */
	public function count(array $body, array $options = []): Result
	{
		return $this->calls->post('/segments/count', [], $body, [], $options);
	}

	/**
	 * Create a segment.
	 *
	 * @param array{name: string, audienceId: string, filter: array{op: string, rules: list<array{field?: string, cmp?: string, value?: mixed, op?: string, rules?: list<array<string, mixed>>}>}} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/segments', [], $body, [], $options);
	}

	/** Delete a segment. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/segments/{id}', [$id], $options);
	}

	/**
	 * Retrieve a segment.
	 *
	 * @param array{count?: bool} $query
	 */
	public function get(string $id, array $query = [], array $options = []): Result
	{
		return $this->calls->get('/segments/{id}', [$id], $query, $options);
	}

	/**
	 * List segments.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, audienceId?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/segments', [], $query, $options);
	}

	/**
	 * List the contacts of a segment.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function listContacts(string $id, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/segments/{id}/contacts', [$id], $query, $options);
	}

	/**
	 * Update a segment.
	 *
	 * @param array{name?: string, filter?: array{op: string, rules: list<array{field?: string, cmp?: string, value?: mixed, op?: string, rules?: list<array<string, mixed>>}>}} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/segments/{id}', [$id], $body, $options);
	}
}
