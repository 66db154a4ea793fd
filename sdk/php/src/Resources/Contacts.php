<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `contacts`. */
final readonly class Contacts extends Resource
{
	/**
	 * Create a contact.
	 *
	 * @param array{email: string, firstName?: ?string, lastName?: ?string, unsubscribed?: bool, topics?: list<array{id: string, subscription: string}>, properties?: array<string, string|float|bool>, status?: string, consent?: array{requestedIp: string}} $body
	 * @param array{upsert?: bool} $query
	 */
	public function create(string $audienceId, array $body, array $query = [], array $options = []): Result
	{
		return $this->calls->post('/audiences/{audienceId}/contacts', [$audienceId], $body, $query, $options);
	}

	/** Delete a contact. */
	public function delete(string $audienceId, string $id, array $options = []): void
	{
		$this->calls->delete('/audiences/{audienceId}/contacts/{id}', [$audienceId, $id], $options);
	}

	/**
	 * Export contacts to a CSV file.
	 *
	 * @param array{segmentId?: string, unsubscribed?: bool} $body
	 */
	public function exportCsv(string $audienceId, array $body = [], array $options = []): Result
	{
		return $this->calls->post('/audiences/{audienceId}/contacts/exports', [$audienceId], $body === [] ? null : $body, [], $options);
	}

	/** Retrieve a contact. */
	public function get(string $audienceId, string $id, array $options = []): Result
	{
		return $this->calls->get('/audiences/{audienceId}/contacts/{id}', [$audienceId, $id], [], $options);
	}

	/**
	 * Import contacts from a CSV file.
	 *
	 * @param string|resource $csv
	 * @param array{onConflict?: string, mapping?: string, encoding?: string, preview?: bool, wait?: bool} $query
	 */
	public function importCsv(string $audienceId, mixed $csv, array $query = [], array $options = []): Result
	{
		return $this->calls->upload('/audiences/{audienceId}/contacts/imports', [$audienceId], $csv, $query, $options);
	}

	/**
	 * List contacts.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, email?: string, unsubscribed?: bool, status?: string} $query
	 */
	public function list(string $audienceId, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/audiences/{audienceId}/contacts', [$audienceId], $query, $options);
	}

	/**
	 * Preview an import that waits.
	 *
	 * @param array{mapping?: string, encoding?: string} $body
	 */
	public function previewImport(string $audienceId, string $id, array $body = [], array $options = []): Result
	{
		return $this->calls->post('/audiences/{audienceId}/contacts/imports/{id}/preview', [$audienceId, $id], $body === [] ? null : $body, [], $options);
	}

	/**
	 * Start an import that waits.
	 *
	 * @param array{mapping?: string, encoding?: string, onConflict?: string} $body
	 */
	public function startImport(string $audienceId, string $id, array $body = [], array $options = []): Result
	{
		return $this->calls->post('/audiences/{audienceId}/contacts/imports/{id}/start', [$audienceId, $id], $body === [] ? null : $body, [], $options);
	}

	/**
	 * Update a contact.
	 *
	 * @param array{email?: string, firstName?: ?string, lastName?: ?string, unsubscribed?: bool, topics?: list<array{id: string, subscription: string}>, properties?: array<string, string|float|bool|null>} $body
	 */
	public function update(string $audienceId, string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/audiences/{audienceId}/contacts/{id}', [$audienceId, $id], $body, $options);
	}
}
