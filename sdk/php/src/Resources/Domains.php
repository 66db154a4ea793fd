<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `domains`. */
final readonly class Domains extends Resource
{
	/**
	 * Create a domain.
	 *
	 * @param array{name: string, productType?: string, region?: string, ed25519?: bool} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/domains', [], $body, [], $options);
	}

	/** Delete a domain. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/domains/{id}', [$id], $options);
	}

	/** Retrieve a domain. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/domains/{id}', [$id], [], $options);
	}

	/**
	 * List domains.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string, name?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/domains', [], $query, $options);
	}

	/**
	 * List reports about a domain.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, type?: string} $query
	 */
	public function listReports(string $id, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/domains/{id}/reports', [$id], $query, $options);
	}

	/**
	 * Sum reports about a domain by day.
	 *
	 * @param array{createdAfter?: string, createdBefore?: string, type?: string} $query
	 */
	public function sumReports(string $id, array $query = [], array $options = []): Result
	{
		return $this->calls->get('/domains/{id}/reports/days', [$id], $query, $options);
	}

	/** Rotate the DKIM keys of a domain. */
	public function rotateDkim(string $id, array $options = []): Result
	{
		return $this->calls->post('/domains/{id}/rotate-dkim', [$id], null, [], $options);
	}

	/**
	 * Update a domain.
	 *
	 * @param array{trackingSubdomain?: ?string, openTracking?: bool, clickTracking?: bool, productType?: string, region?: string, ed25519?: bool} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/domains/{id}', [$id], $body, $options);
	}

	/** Verify a domain. */
	public function verify(string $id, array $options = []): Result
	{
		return $this->calls->post('/domains/{id}/verify', [$id], null, [], $options);
	}
}
