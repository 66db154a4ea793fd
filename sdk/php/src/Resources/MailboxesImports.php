<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;
use Postrider\Stream;

/** The operations of `mailboxes.imports`. */
final readonly class MailboxesImports extends Resource
{
	/**
	 * Create a mailbox import.
	 *
	 * @param array{host: string, port?: int, security?: string, user: string, password: string} $body
	 */
	public function create(string $mailboxId, array $body, array $options = []): Result
	{
		return $this->calls->post('/mailboxes/{mailboxId}/imports', [$mailboxId], $body, [], $options);
	}

	/** Delete a mailbox import. */
	public function delete(string $mailboxId, string $id, array $options = []): void
	{
		$this->calls->delete('/mailboxes/{mailboxId}/imports/{id}', [$mailboxId, $id], $options);
	}

	/** Retrieve a mailbox import. */
	public function get(string $mailboxId, string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{mailboxId}/imports/{id}', [$mailboxId, $id], [], $options);
	}

	/** Download the messages that were not imported. */
	public function getErrors(string $mailboxId, string $id, array $options = []): Stream
	{
		return $this->calls->stream('/mailboxes/{mailboxId}/imports/{id}/errors', [$mailboxId, $id], [], $options);
	}

	/**
	 * List mailbox imports.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function list(string $mailboxId, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/mailboxes/{mailboxId}/imports', [$mailboxId], $query, $options);
	}
}
