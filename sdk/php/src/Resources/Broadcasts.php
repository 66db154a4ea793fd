<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `broadcasts`. */
final readonly class Broadcasts extends Resource
{
	/**
	 * Approve a broadcast.
	 *
	 * @param array{hash: string} $body
	 */
	public function approve(string $id, array $body, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/approve', [$id], $body, [], $options);
	}

	/** Cancel a broadcast. */
	public function cancel(string $id, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/cancel', [$id], null, [], $options);
	}

	/**
	 * Create a broadcast.
	 *
	 * @param array{audienceId?: ?string, segmentId?: ?string, replyTo?: ?string, topicId?: ?string, templateId?: ?string, html?: ?string, text?: ?string, scheduleAt?: ?string, pace?: ?array{perHour?: int, perDay?: int, finishBy?: string}, from: string, subject: string} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/broadcasts', [], $body, [], $options);
	}

	/**
	 * Decline a broadcast.
	 *
	 * @param array{hash: string, reason?: ?string} $body
	 */
	public function decline(string $id, array $body, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/decline', [$id], $body, [], $options);
	}

	/** Delete a broadcast. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/broadcasts/{id}', [$id], $options);
	}

	/** Export the tracked links of a broadcast to a CSV file. */
	public function exportClickedLinks(string $id, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/clicked-links/exports', [$id], null, [], $options);
	}

	/**
	 * Export the recipients of a broadcast to a CSV file.
	 *
	 * @param array{status?: string} $body
	 */
	public function exportRecipients(string $id, array $body = [], array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/recipients/exports', [$id], $body === [] ? null : $body, [], $options);
	}

	/** Retrieve a broadcast. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/broadcasts/{id}', [$id], [], $options);
	}

	/**
	 * List broadcasts.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string, audienceId?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/broadcasts', [], $query, $options);
	}

	/** List the tracked links of a broadcast. */
	public function listClickedLinks(string $id, array $options = []): Page
	{
		return $this->calls->page('/broadcasts/{id}/clicked-links', [$id], [], $options);
	}

	/** Count the recipients of a broadcast by provider. */
	public function listProviders(string $id, array $options = []): Page
	{
		return $this->calls->page('/broadcasts/{id}/providers', [$id], [], $options);
	}

	/**
	 * List the recipients of a broadcast.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string} $query
	 */
	public function listRecipients(string $id, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/broadcasts/{id}/recipients', [$id], $query, $options);
	}

	/** Pause a broadcast. */
	public function pause(string $id, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/pause', [$id], null, [], $options);
	}

	/** Show what a broadcast will be. */
	public function preflight(string $id, array $options = []): Result
	{
		return $this->calls->get('/broadcasts/{id}/preflight', [$id], [], $options);
	}

	/**
	 * Show a broadcast as a contact would read it.
	 *
	 * @param array{contact?: string} $query
	 */
	public function preview(string $id, array $query = [], array $options = []): Result
	{
		return $this->calls->get('/broadcasts/{id}/preview', [$id], $query, $options);
	}

	/** Resume a paused broadcast. */
	public function resume(string $id, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/resume', [$id], null, [], $options);
	}

	/** Send a broadcast. */
	public function send(string $id, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/send', [$id], null, [], $options);
	}

	/**
	 * Send a test of a broadcast.
	 *
	 * @param array{to: list<string>, contactId?: ?string} $body
	 */
	public function test(string $id, array $body, array $options = []): Result
	{
		return $this->calls->post('/broadcasts/{id}/test', [$id], $body, [], $options);
	}

	/**
	 * Update a broadcast.
	 *
	 * @param array{audienceId?: ?string, segmentId?: ?string, from?: string, subject?: string, replyTo?: ?string, topicId?: ?string, templateId?: ?string, html?: ?string, text?: ?string, scheduleAt?: ?string, pace?: ?array{perHour?: int, perDay?: int, finishBy?: string}} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/broadcasts/{id}', [$id], $body, $options);
	}
}
