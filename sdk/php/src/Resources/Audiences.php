<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `audiences`. */
final readonly class Audiences extends Resource
{
	/**
	 * Create an audience.
	 *
	 * @param array{name: string, optIn?: ?array{from: string, replyTo?: ?string, subject?: ?string, templateId?: ?string, language?: string}} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/audiences', [], $body, [], $options);
	}

	/** Delete an audience. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/audiences/{id}', [$id], $options);
	}

	/** Retrieve an audience. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/audiences/{id}', [$id], [], $options);
	}

	/**
	 * List audiences.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/audiences', [], $query, $options);
	}

	/**
	 * Update an audience.
	 *
	 * @param array{name?: string, optIn?: ?array{from: string, replyTo?: ?string, subject?: ?string, templateId?: ?string, language?: string}} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/audiences/{id}', [$id], $body, $options);
	}
}
