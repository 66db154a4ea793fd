<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `suppressions`. */
final readonly class Suppressions extends Resource
{
	/**
	 * Suppress an address.
	 *
	 * @param array{email: string, reason?: string} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/suppressions', [], $body, [], $options);
	}

	/**
	 * Suppress up to 100 addresses.
	 *
	 * @param array{suppressions: list<array{email: string, reason?: string}>} $body
	 */
	public function createBatch(array $body, array $options = []): Result
	{
		return $this->calls->post('/suppressions/batch', [], $body, [], $options);
	}

	/** Delete a suppression. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/suppressions/{id}', [$id], $options);
	}

	/**
	 * Remove up to 100 addresses from the list.
	 *
	 * @param array{emails: list<string>} $body
	 */
	public function deleteBatch(array $body, array $options = []): Result
	{
		return $this->calls->post('/suppressions/batch/delete', [], $body, [], $options);
	}

	/**
	 * Export suppressions to a CSV file.
	 *
	 * @param array{reason?: string} $body
	 */
	public function exportCsv(array $body = [], array $options = []): Result
	{
		return $this->calls->post('/suppressions/exports', [], $body === [] ? null : $body, [], $options);
	}

	/** Retrieve a suppression. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/suppressions/{id}', [$id], [], $options);
	}

	/**
	 * Import suppressions from a CSV file.
	 *
	 * @param string|resource $csv
	 * @param array{reason?: string, mapping?: string, encoding?: string, preview?: bool} $query
	 */
	public function importCsv(mixed $csv, array $query = [], array $options = []): Result
	{
		return $this->calls->upload('/suppressions/imports', [], $csv, $query, $options);
	}

	/**
	 * List suppressions.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, email?: string, reason?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/suppressions', [], $query, $options);
	}
}
