<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Calls;
use Postrider\Page;
use Postrider\Result;

/** The operations of `webhooks`. */
final readonly class Webhooks extends Resource
{
	public WebhooksDeliveries $deliveries;

	public function __construct(Calls $calls)
	{
		parent::__construct($calls);
		$this->deliveries = new WebhooksDeliveries($calls);
	}

	/**
	 * Create a webhook endpoint.
	 *
	 * @param array{url: string, events: list<string>, description?: ?string, domainId?: ?string, format?: string} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/webhooks', [], $body, [], $options);
	}

	/** Delete a webhook endpoint. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/webhooks/{id}', [$id], $options);
	}

	/** Retrieve a webhook endpoint. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/webhooks/{id}', [$id], [], $options);
	}

	/**
	 * List webhook endpoints.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/webhooks', [], $query, $options);
	}

	/**
	 * Count failed and skipped deliveries.
	 *
	 * @param array{since?: string, status?: string, maximum?: int} $query
	 */
	public function countReplay(string $id, array $query = [], array $options = []): Result
	{
		return $this->calls->get('/webhooks/{id}/replay', [$id], $query, $options);
	}

	/**
	 * Post failed and skipped deliveries again.
	 *
	 * @param array{since: string, status?: string} $body
	 */
	public function replay(string $id, array $body, array $options = []): Result
	{
		return $this->calls->post('/webhooks/{id}/replay', [$id], $body, [], $options);
	}

	/**
	 * Replace the secret of a webhook endpoint.
	 *
	 * @param array{overlapSeconds?: int} $body
	 */
	public function rotateSecret(string $id, array $body = [], array $options = []): Result
	{
		return $this->calls->post('/webhooks/{id}/rotate-secret', [$id], $body === [] ? null : $body, [], $options);
	}

	/**
	 * Post a sample event to a webhook endpoint.
	 *
	 * @param array{type?: string} $body
	 */
	public function test(string $id, array $body = [], array $options = []): Result
	{
		return $this->calls->post('/webhooks/{id}/test', [$id], $body === [] ? null : $body, [], $options);
	}

	/**
	 * Update a webhook endpoint.
	 *
	 * @param array{url?: string, events?: list<string>, description?: ?string, status?: string} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/webhooks/{id}', [$id], $body, $options);
	}
}
