<?php

declare(strict_types=1);

namespace Postrider;

/**
 * A page of a list. Iterating goes over all pages, each of which is fetched when it is needed; `data` has the items of this page alone.
 *
 * @implements \IteratorAggregate<int, Result>
 */
final readonly class Page implements \IteratorAggregate
{
	/** @var list<Result> */
	public array $data;
	public bool $hasMore;
	/** Cursor that leads to older items; null when there are none. */
	public ?string $nextCursor;

	/**
	 * @param array<string, mixed> $answer
	 * @param array<string, mixed> $query
	 * @param \Closure(array<string, mixed>): self $fetch fetches the page of another query
	 */
	public function __construct(private array $answer, private array $query, private \Closure $fetch)
	{
		$this->data = array_map(static fn (array $item) => new Result($item), $answer['data'] ?? []);
		$this->hasMore = $answer['hasMore'] ?? false;
		$this->nextCursor = $answer['nextCursor'] ?? null;
	}

	/**
	 * Says whether an answer has the fields of a page: a list of something else would look like an empty one.
	 *
	 * @internal
	 * @param array<array-key, mixed> $answer
	 */
	public static function isPage(array $answer): bool
	{
		$data = $answer['data'] ?? null;
		return is_array($data)
			&& array_is_list($data)
			&& array_filter($data, is_array(...)) === $data
			&& is_bool($answer['hasMore'] ?? false)
			&& is_string($answer['nextCursor'] ?? '');
	}

	/** Returns the next page in the direction of the list, or null when there is none. */
	public function next(): ?self
	{
		if (!$this->hasMore || $this->data === []) {
			return null;
		}
		if (isset($this->query['endingBefore'])) {
			return ($this->fetch)([...$this->query, 'endingBefore' => $this->data[0]['id']]);
		}
		return $this->nextCursor === null ? null : ($this->fetch)([...$this->query, 'startingAfter' => $this->nextCursor]);
	}

	/** @return \Generator<int, Result> */
	public function getIterator(): \Generator
	{
		$index = 0;
		for ($page = $this; $page !== null; $page = $page->next()) {
			foreach ($page->data as $item) {
				yield $index++ => $item;
			}
		}
	}

	/** @return array<string, mixed> the page as PHP's own values */
	public function toArray(): array
	{
		return $this->answer;
	}
}
