<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `mailboxes.threads`. */
final readonly class MailboxesThreads extends Resource
{
	/** Retrieve a thread of a mailbox. */
	public function get(string $mailboxId, string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{mailboxId}/threads/{id}', [$mailboxId, $id], [], $options);
	}

	/**
	 * List the threads of a mailbox.
	 *
	 * @param array{limit?: int, startingAfter?: string, folder?: string} $query
	 */
	public function list(string $mailboxId, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/mailboxes/{mailboxId}/threads', [$mailboxId], $query, $options);
	}
}
