<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;
use Postrider\Stream;

/** The operations of `mailboxes.messages`. */
final readonly class MailboxesMessages extends Resource
{
	/** Retrieve a message of a mailbox. */
	public function get(string $mailboxId, string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{mailboxId}/messages/{id}', [$mailboxId, $id], [], $options);
	}

	/** Download an attachment of a message of a mailbox. */
	public function getAttachment(string $mailboxId, string $id, int $number, array $options = []): Stream
	{
		return $this->calls->stream('/mailboxes/{mailboxId}/messages/{id}/attachments/{number}', [$mailboxId, $id, $number], [], $options);
	}

	/** Download a message of a mailbox. */
	public function getRaw(string $mailboxId, string $id, array $options = []): Stream
	{
		return $this->calls->stream('/mailboxes/{mailboxId}/messages/{id}/raw', [$mailboxId, $id], [], $options);
	}

	/**
	 * List the messages of a mailbox.
	 *
	 * @param array{limit?: int, startingAfter?: string, folder?: string, unread?: bool, flagged?: bool, from?: string, to?: string, subject?: string, q?: string, receivedAfter?: string, receivedBefore?: string} $query
	 */
	public function list(string $mailboxId, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/mailboxes/{mailboxId}/messages', [$mailboxId], $query, $options);
	}

	/**
	 * Mark or move a message of a mailbox.
	 *
	 * @param array{unread?: bool, flagged?: bool, folder?: string} $body
	 */
	public function update(string $mailboxId, string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/mailboxes/{mailboxId}/messages/{id}', [$mailboxId, $id], $body, $options);
	}
}
