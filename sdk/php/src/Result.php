<?php

declare(strict_types=1);

namespace Postrider;

/**
 * An answer, or an object within one. Its fields have the names of the wire, and are read as properties or as entries:
 * `$email->createdAt`, `$email['createdAt']`. Fields that this library does not know are there too. A field that is absent is null.
 *
 * @implements \ArrayAccess<string, mixed>
 * @implements \IteratorAggregate<string, mixed>
 */
readonly class Result implements \ArrayAccess, \IteratorAggregate, \Countable, \JsonSerializable
{
	/** @param array<array-key, mixed> $fields */
	final public function __construct(private array $fields)
	{
	}

	public function __get(string $name): mixed
	{
		return self::shown($this->fields[$name] ?? null);
	}

	public function __isset(string $name): bool
	{
		return isset($this->fields[$name]);
	}

	public function offsetExists(mixed $offset): bool
	{
		return isset($this->fields[$offset]);
	}

	public function offsetGet(mixed $offset): mixed
	{
		return self::shown($this->fields[$offset] ?? null);
	}

	public function offsetSet(mixed $offset, mixed $value): never
	{
		throw new \LogicException('An answer cannot be changed.');
	}

	public function offsetUnset(mixed $offset): never
	{
		throw new \LogicException('An answer cannot be changed.');
	}

	public function getIterator(): \Iterator
	{
		foreach ($this->fields as $name => $value) {
			yield $name => self::shown($value);
		}
	}

	public function count(): int
	{
		return count($this->fields);
	}

	/** @return array<array-key, mixed> the fields as PHP's own values, also within them */
	public function toArray(): array
	{
		return $this->fields;
	}

	public function jsonSerialize(): mixed
	{
		return $this->fields === [] ? new \stdClass() : $this->fields;
	}

	/** Objects become results, and lists stay lists. */
	private static function shown(mixed $value): mixed
	{
		if (!is_array($value)) {
			return $value;
		}
		return array_is_list($value) ? array_map(self::shown(...), $value) : new self($value);
	}
}
