<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `mailboxes.appPasswords`. */
final readonly class MailboxesAppPasswords extends Resource
{
	/**
	 * Create an app password.
	 *
	 * @param array{name: string, protocols?: list<string>, member?: string, allowedIps?: ?list<string>, expiresAt?: ?string} $body
	 */
	public function create(string $mailboxId, array $body, array $options = []): Result
	{
		return $this->calls->post('/mailboxes/{mailboxId}/app-passwords', [$mailboxId], $body, [], $options);
	}

	/** Revoke an app password. */
	public function delete(string $mailboxId, string $id, array $options = []): void
	{
		$this->calls->delete('/mailboxes/{mailboxId}/app-passwords/{id}', [$mailboxId, $id], $options);
	}

	/** Retrieve an app password. */
	public function get(string $mailboxId, string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{mailboxId}/app-passwords/{id}', [$mailboxId, $id], [], $options);
	}

	/**
	 * List app passwords.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function list(string $mailboxId, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/mailboxes/{mailboxId}/app-passwords', [$mailboxId], $query, $options);
	}
}
