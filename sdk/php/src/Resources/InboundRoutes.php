<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `inbound.routes`. */
final readonly class InboundRoutes extends Resource
{
	/**
	 * Create an inbound route.
	 *
	 * @param array{address: string, destination: string, enabled?: bool} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/inbound/routes', [], $body, [], $options);
	}

	/** Delete an inbound route. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/inbound/routes/{id}', [$id], $options);
	}

	/** Retrieve an inbound route. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/inbound/routes/{id}', [$id], [], $options);
	}

	/**
	 * List inbound routes.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, address?: string, domain?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/inbound/routes', [], $query, $options);
	}

	/** Post a sample message to an inbound route. */
	public function test(string $id, array $options = []): Result
	{
		return $this->calls->post('/inbound/routes/{id}/test', [$id], null, [], $options);
	}

	/**
	 * Update an inbound route.
	 *
	 * @param array{address?: string, destination?: string, enabled?: bool} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/inbound/routes/{id}', [$id], $body, $options);
	}
}
