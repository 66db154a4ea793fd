<?php

declare(strict_types=1);

namespace Postrider;

/** Reads the options of a call, so that a slip in a name is noticed. */
final readonly class Options
{
	private const NAMES = ['idempotencyKey', 'timeout', 'deadline', 'isCanceled'];

	private function __construct(
		public ?string $idempotencyKey,
		/** Seconds that a try may take, and one more for each 100 kB of the body. */
		public ?float $timeout,
		/** Seconds that the whole call may take. */
		public ?float $deadline,
		/** @var (\Closure(): bool)|null asked some times a second; true ends the call */
		public ?\Closure $isCanceled,
	) {
	}

	/**
	 * @param array{idempotencyKey?: string, timeout?: float, deadline?: float, isCanceled?: callable(): bool} $options
	 * @throws PostriderError `invalid_argument`
	 */
	public static function read(array $options): self
	{
		$unknown = array_diff(array_keys($options), self::NAMES);
		if ($unknown !== []) {
			throw new PostriderError('invalid_argument', 'There is no option ' . implode(', ', $unknown) . '.');
		}
		$isCanceled = $options['isCanceled'] ?? null;
		return new self(
			$options['idempotencyKey'] ?? null,
			isset($options['timeout']) ? (float) $options['timeout'] : null,
			isset($options['deadline']) ? (float) $options['deadline'] : null,
			$isCanceled === null ? null : $isCanceled(...),
		);
	}
}
