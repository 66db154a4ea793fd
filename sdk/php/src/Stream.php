<?php

declare(strict_types=1);

namespace Postrider;

/**
 * A file or a message, read as it arrives. It can be iterated once.
 *
 * @implements \IteratorAggregate<int, string>
 */
final class Stream implements \IteratorAggregate
{
	private bool $isTaken = false;

	/** @internal */
	public function __construct(private readonly Exchange $exchange)
	{
	}

	/** Returns the media type, such as `message/rfc822`. */
	public function contentType(): ?string
	{
		return $this->exchange->headers()['content-type'] ?? null;
	}

	/**
	 * @return \Generator<int, string> the parts of the body
	 * @throws PostriderError when the connection ends early, or no part comes in time
	 */
	public function getIterator(): \Generator
	{
		if ($this->isTaken) {
			throw new \LogicException('A stream is read once.');
		}
		$this->isTaken = true;
		try {
			while (($part = $this->exchange->nextPart()) !== null) {
				yield $part;
			}
		} finally {
			$this->exchange->end();
		}
	}

	/** Returns everything. */
	public function contents(): string
	{
		return implode('', iterator_to_array($this, false));
	}

	/**
	 * Writes everything to an open file.
	 *
	 * @param resource $file
	 * @throws PostriderError as iterating does, and `invalid_argument` when the file does not take everything
	 */
	public function copyTo(mixed $file): void
	{
		foreach ($this as $part) {
			if (@fwrite($file, $part) !== strlen($part)) {
				throw new PostriderError('invalid_argument', 'The file does not take the whole answer.');
			}
		}
	}
}
