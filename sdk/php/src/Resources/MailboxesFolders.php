<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Result;

/** The operations of `mailboxes.folders`. */
final readonly class MailboxesFolders extends Resource
{
	/** List the folders of a mailbox. */
	public function list(string $mailboxId, array $options = []): Result
	{
		return $this->calls->get('/mailboxes/{mailboxId}/folders', [$mailboxId], [], $options);
	}
}
