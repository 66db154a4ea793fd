<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Result;

/** The operations of `mailboxes.drafts`. */
final readonly class MailboxesDrafts extends Resource
{
	/**
	 * Write a draft in a mailbox.
	 *
	 * @param array{inReplyTo?: string, replyAll?: bool, quote?: bool, forwards?: string, forwardAs?: string, from?: string, to?: list<string>, cc?: list<string>, bcc?: list<string>, subject?: string, text?: string, html?: string} $body
	 */
	public function create(string $mailboxId, array $body, array $options = []): Result
	{
		return $this->calls->send('/mailboxes/{mailboxId}/drafts', $body, $options, [$mailboxId]);
	}

	/** Send a draft of a mailbox. */
	public function send(string $mailboxId, string $id, array $options = []): Result
	{
		return $this->calls->send('/mailboxes/{mailboxId}/drafts/{id}/send', null, $options, [$mailboxId, $id]);
	}
}
