<?php

declare(strict_types=1);

namespace Postrider;

/**
 * When a request may be made again.
 *
 * @internal
 */
enum Repeat
{
	case Always;
	/** It has an idempotency key. */
	case Keyed;
	/** Only when it surely did nothing. */
	case Unsent;
}
