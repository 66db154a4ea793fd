<?php

declare(strict_types=1);

namespace Postrider;

/**
 * The time that a call has, and whether it is still wanted. Times are seconds of a clock that never goes back.
 *
 * @internal
 */
final class Limits
{
	/** Seconds between two questions whether the call is still wanted. */
	private const POLL_SECONDS = 0.05;

	/** When the present try ends, or the next part of a stream must be there. */
	private float $tryEndsAt = 0.0;

	/** @param (\Closure(): bool)|null $isCanceled */
	public function __construct(
		public readonly float $endsAt,
		private readonly float $secondsPerTry,
		private readonly ?\Closure $isCanceled,
	) {
	}

	/** Begins the time of a try, or of the next part of a stream. */
	public function nextTry(): self
	{
		$this->tryEndsAt = min($this->endsAt, self::now() + $this->secondsPerTry);
		return $this;
	}

	/** A stream has time as long as its parts come: the deadline is that of its head. */
	public function nextPart(): void
	{
		$this->tryEndsAt = self::now() + $this->secondsPerTry;
	}

	/**
	 * Returns the seconds for which it may be waited before this is called again.
	 *
	 * @throws PostriderError `timeout`, `canceled`
	 */
	public function left(): float
	{
		if ($this->isCanceled !== null && ($this->isCanceled)()) {
			throw new PostriderError('canceled', 'The call was cancelled.');
		}
		$left = $this->tryEndsAt - self::now();
		if ($left <= 0) {
			throw new PostriderError('timeout', 'The daemon has not answered in time.');
		}
		return $this->isCanceled === null ? $left : min($left, self::POLL_SECONDS);
	}

	/** @throws PostriderError `canceled` */
	public function sleep(float $seconds): void
	{
		$this->tryEndsAt = self::now() + $seconds + 1.0;
		for ($end = self::now() + $seconds; ($rest = $end - self::now()) > 0;) {
			usleep((int) (min($rest, $this->left()) * 1e6) + 1);
		}
	}

	private static function now(): float
	{
		return hrtime(true) / 1e9;
	}
}
