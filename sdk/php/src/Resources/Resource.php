<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Calls;

/** @internal */
abstract readonly class Resource
{
	public function __construct(protected Calls $calls)
	{
	}
}
