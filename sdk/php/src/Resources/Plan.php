<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Result;

/** The operations of `plan`. */
final readonly class Plan extends Resource
{
	/** Retrieve the plan and its use. */
	public function get(array $options = []): Result
	{
		return $this->calls->get('/plan', [], [], $options);
	}
}
