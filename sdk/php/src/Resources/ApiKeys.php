<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `apiKeys`. */
final readonly class ApiKeys extends Resource
{
	/**
	 * Create an API key.
	 *
	 * @param array{name: string, mode?: string, permission: string, domainId?: ?string, allowedIps?: ?list<string>, expiresAt?: ?string, requiresApproval?: ?string} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/api-keys', [], $body, [], $options);
	}

	/** Revoke an API key. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/api-keys/{id}', [$id], $options);
	}

	/** Retrieve an API key. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/api-keys/{id}', [$id], [], $options);
	}

	/**
	 * List API keys.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/api-keys', [], $query, $options);
	}

	/**
	 * Change an API key.
	 *
	 * @param array{name?: string, requiresApproval?: ?string} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/api-keys/{id}', [$id], $body, $options);
	}
}
