<?php

declare(strict_types=1);

namespace Postrider;

/**
 * Makes JSON of bodies. The content of an attachment may be an open file or a `Bytes`, which is encoded in base64 as it is read.
 */
final class Attachments
{
	/** Bytes that are encoded at a time, a multiple of 3. */
	private const SLICE_BYTES = 48 * 1024;

	/**
	 * @param array<array-key, mixed> $body
	 * @throws PostriderError `invalid_argument` for what JSON cannot hold
	 */
	public static function toJson(array $body): string
	{
		$contents = [];
		$json = self::encode(self::withMarks($body, $contents));
		if ($contents === []) {
			return $json;
		}
		// The marks stand in the order in which they were made, each in quotes.
		$parts = preg_split('/"' . self::mark() . '"/', $json);
		$whole = '';
		foreach ($parts as $index => $part) {
			$whole .= $part;
			if (isset($contents[$index])) {
				$whole .= '"';
				self::append($whole, $contents[$index]);
				$whole .= '"';
			}
			$parts[$index] = '';
		}
		return $whole;
	}

	/** A text that no caller can guess, for each process. */
	private static function mark(): string
	{
		static $mark = null;
		return $mark ??= 'postrider-' . bin2hex(random_bytes(16));
	}

	/**
	 * @param array<array-key, mixed> $value
	 * @param list<resource|Bytes> $contents
	 * @return array<array-key, mixed>
	 */
	private static function withMarks(array $value, array &$contents): array
	{
		foreach ($value as $name => $item) {
			if (is_array($item)) {
				$value[$name] = self::withMarks($item, $contents);
			} elseif (is_resource($item) || $item instanceof Bytes) {
				$contents[] = $item;
				$value[$name] = self::mark();
			}
		}
		return $value;
	}

	/** @param array<array-key, mixed> $value */
	private static function encode(array $value): string
	{
		// An empty body is an object, and so is everything that is no list.
		$object = $value === [] ? new \stdClass() : $value;
		try {
			return json_encode($object, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION);
		} catch (\JsonException $error) {
			throw new PostriderError('invalid_argument', 'The body is no JSON: ' . $error->getMessage() . '.', previous: $error);
		}
	}

	/** @param resource|Bytes $content */
	private static function append(string &$whole, mixed $content): void
	{
		if ($content instanceof Bytes) {
			for ($at = 0; $at < strlen($content->bytes); $at += self::SLICE_BYTES) {
				$whole .= base64_encode(substr($content->bytes, $at, self::SLICE_BYTES));
			}
			return;
		}
		$rest = '';
		while (!feof($content)) {
			$slice = stream_get_contents($content, self::SLICE_BYTES);
			if ($slice === false || ($slice === '' && !feof($content))) {
				throw new PostriderError('invalid_argument', 'The file of an attachment cannot be read to its end.');
			}
			// Only parts of a multiple of 3 bytes can be joined, and a pipe may give any number.
			$rest .= $slice;
			$length = strlen($rest) - strlen($rest) % 3;
			$whole .= base64_encode(substr($rest, 0, $length));
			$rest = substr($rest, $length);
		}
		$whole .= base64_encode($rest);
	}
}
