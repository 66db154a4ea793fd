<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;
use Postrider\Stream;

/** The operations of `inbound.messages`. */
final readonly class InboundMessages extends Resource
{
	/** Retrieve an inbound message. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/inbound/messages/{id}', [$id], [], $options);
	}

	/** Download an attachment of an inbound message. */
	public function getAttachment(string $id, int $number, array $options = []): Stream
	{
		return $this->calls->stream('/inbound/messages/{id}/attachments/{number}', [$id, $number], [], $options);
	}

	/** Download an inbound message. */
	public function getRaw(string $id, array $options = []): Stream
	{
		return $this->calls->stream('/inbound/messages/{id}/raw', [$id], [], $options);
	}

	/**
	 * List inbound messages.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, address?: string, routeId?: string, from?: string, messageId?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/inbound/messages', [], $query, $options);
	}

	/** Post an inbound message again. */
	public function replay(string $id, array $options = []): Result
	{
		return $this->calls->post('/inbound/messages/{id}/replay', [$id], null, [], $options);
	}
}
