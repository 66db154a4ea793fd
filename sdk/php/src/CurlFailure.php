<?php

declare(strict_types=1);

namespace Postrider;

/** Says what curl has reported; its code is that of curl. It is the previous error of a `connection_error`. */
final class CurlFailure extends \RuntimeException
{
	private const UNSENT = [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT];

	/** Returns true when there was no connection, so that nothing was sent. */
	public function isUnsent(): bool
	{
		return in_array($this->getCode(), self::UNSENT, true);
	}
}
