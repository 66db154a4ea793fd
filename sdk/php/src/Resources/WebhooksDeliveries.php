<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `webhooks.deliveries`. */
final readonly class WebhooksDeliveries extends Resource
{
	/** Retrieve a webhook delivery. */
	public function get(string $webhookId, string $id, array $options = []): Result
	{
		return $this->calls->get('/webhooks/{webhookId}/deliveries/{id}', [$webhookId, $id], [], $options);
	}

	/**
	 * List webhook deliveries.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string} $query
	 */
	public function list(string $webhookId, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/webhooks/{webhookId}/deliveries', [$webhookId], $query, $options);
	}

	/** Post a delivery again. */
	public function replay(string $webhookId, string $id, array $options = []): Result
	{
		return $this->calls->post('/webhooks/{webhookId}/deliveries/{id}/replay', [$webhookId, $id], null, [], $options);
	}
}
