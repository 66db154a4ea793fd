<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Calls;
use Postrider\Page;
use Postrider\Result;

/** The operations of `mailboxes`. */
final readonly class Mailboxes extends Resource
{
	public MailboxesAppPasswords $appPasswords;
	public MailboxesDrafts $drafts;
	public MailboxesFolders $folders;
	public MailboxesImports $imports;
	public MailboxesMessages $messages;
	public MailboxesThreads $threads;

	public function __construct(Calls $calls)
	{
		parent::__construct($calls);
		$this->appPasswords = new MailboxesAppPasswords($calls);
		$this->drafts = new MailboxesDrafts($calls);
		$this->folders = new MailboxesFolders($calls);
		$this->imports = new MailboxesImports($calls);
		$this->messages = new MailboxesMessages($calls);
		$this->threads = new MailboxesThreads($calls);
	}

	/**
	 * Create a mailbox.
	 *
	 * @param array{address: string, kind?: string, members?: list<string>, displayName?: ?string, aliases?: list<string>, vacation?: ?array{from?: ?string, until?: ?string, subject?: ?string, text: string}, forwardTo?: list<string>, keepCopy?: bool, rules?: list<array{name?: string, match?: string, conditions: list<array{field: string, header?: string, operator?: string, value: string, not?: bool}>, fileInto?: string, markRead?: bool, star?: bool, forwardTo?: string, discard?: bool, stop?: bool}>, password?: string, passwordLogin?: bool, passwordRecovery?: bool, scramLogin?: bool, quotaBytes?: int, disabledCapabilities?: list<string>} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/mailboxes', [], $body, [], $options);
	}

	/** Delete a mailbox. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/mailboxes/{id}', [$id], $options);
	}

	/** Remove the recovery address of a mailbox. */
	public function deleteRecoveryAddress(string $id, array $options = []): void
	{
		$this->calls->delete('/mailboxes/{id}/recovery-address', [$id], $options);
	}

	/**
	 * End sessions of a mailbox.
	 *
	 * @param array{session?: string} $body
	 */
	public function endSessions(string $id, array $body, array $options = []): Result
	{
		return $this->calls->post('/mailboxes/{id}/sessions/end', [$id], $body, [], $options);
	}

	/** Retrieve a mailbox. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{id}', [$id], [], $options);
	}

	/** Retrieve the recovery address of a mailbox. */
	public function getRecoveryAddress(string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{id}/recovery-address', [$id], [], $options);
	}

	/** Retrieve the settings for mail programs. */
	public function getSettings(string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{id}/settings', [$id], [], $options);
	}

	/**
	 * List mailboxes.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, address?: string, domain?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/mailboxes', [], $query, $options);
	}

	/** List the sessions of a mailbox. */
	public function listSessions(string $id, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{id}/sessions', [$id], [], $options);
	}

	/**
	 * Update a mailbox.
	 *
	 * @param array{displayName?: ?string, password?: string, passwordLogin?: bool, passwordRecovery?: bool, timeZone?: ?string, members?: list<string>, vacation?: ?array{from?: ?string, until?: ?string, subject?: ?string, text: string}, forwardTo?: list<string>, keepCopy?: bool, rules?: list<array{name?: string, match?: string, conditions: list<array{field: string, header?: string, operator?: string, value: string, not?: bool}>, fileInto?: string, markRead?: bool, star?: bool, forwardTo?: string, discard?: bool, stop?: bool}>, aliases?: list<string>, scramLogin?: bool, quotaBytes?: int, disabledCapabilities?: list<string>, status?: string} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/mailboxes/{id}', [$id], $body, $options);
	}
}
