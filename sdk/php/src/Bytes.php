<?php

declare(strict_types=1);

namespace Postrider;

/** The bytes of an attachment. A plain string is base64, as on the wire. */
final readonly class Bytes
{
	public function __construct(public string $bytes)
	{
	}

	/** @return array{bytes: string} */
	public function __debugInfo(): array
	{
		return ['bytes' => strlen($this->bytes) . ' bytes'];
	}
}
