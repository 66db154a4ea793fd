<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Bytes;
use Postrider\Page;
use Postrider\Result;
use Postrider\Stream;

/** The operations of `emails`. */
final readonly class Emails extends Resource
{
	/**
	 * Approve an email.
	 *
	 * @param array{hash: string} $body
	 */
	public function approve(string $id, array $body, array $options = []): Result
	{
		return $this->calls->post('/emails/{id}/approve', [$id], $body, [], $options);
	}

	/** Cancel an email. */
	public function cancel(string $id, array $options = []): Result
	{
		return $this->calls->post('/emails/{id}/cancel', [$id], null, [], $options);
	}

	/**
	 * Check an email.
	 *
	 * @param array{recipient?: string} $query
	 */
	public function check(string $id, array $query = [], array $options = []): Result
	{
		return $this->calls->get('/emails/{id}/check', [$id], $query, $options);
	}

	/**
	 * Decline an email.
	 *
	 * @param array{hash: string, reason?: ?string} $body
	 */
	public function decline(string $id, array $body, array $options = []): Result
	{
		return $this->calls->post('/emails/{id}/decline', [$id], $body, [], $options);
	}

	/** Retrieve an email. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/emails/{id}', [$id], [], $options);
	}

	/** Download an attachment of an email. */
	public function getAttachment(string $id, int $number, array $options = []): Stream
	{
		return $this->calls->stream('/emails/{id}/attachments/{number}', [$id, $number], [], $options);
	}

	/** List the delivery attempts of an email. */
	public function getAttempts(string $id, array $options = []): Result
	{
		return $this->calls->get('/emails/{id}/attempts', [$id], [], $options);
	}

	/**
	 * Download an email.
	 *
	 * @param array{recipient?: string} $query
	 */
	public function getRaw(string $id, array $query = [], array $options = []): Stream
	{
		return $this->calls->stream('/emails/{id}/raw', [$id], $query, $options);
	}

	/**
	 * List emails.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, status?: string, from?: string, to?: string, tag?: string, messageId?: string, recipientStatus?: string, apiKeyId?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/emails', [], $query, $options);
	}

	/**
	 * Reschedule an email.
	 *
	 * @param array{scheduledAt: string} $body
	 */
	public function reschedule(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/emails/{id}', [$id], $body, $options);
	}

	/**
	 * Search subjects.
	 *
	 * @param array{text?: string, days?: int, limit?: int} $query
	 */
	public function searchSubjects(array $query = [], array $options = []): Result
	{
		return $this->calls->get('/emails/subjects', [], $query, $options);
	}

	/**
	 * Send an email.
	 *
	 * @param array{from: string, to: string|list<string>, cc?: string|list<string>, bcc?: string|list<string>, replyTo?: string|list<string>, subject: string, html?: string, text?: string, amp?: string, calendar?: array{method: string, content: string}, type: string, headers?: array<string, string>, attachments?: list<array{filename?: string, content?: string|Bytes|resource, path?: string, url?: string, contentType?: string, contentId?: string, disposition?: string}>, tags?: array<string, string>, scheduledAt?: string, templateId?: string, variables?: array<string, string|float|bool|null>, topicId?: string} $body
	 */
	public function send(array $body, array $options = []): Result
	{
		return $this->calls->send('/emails', $body, $options);
	}

	/**
	 * Send up to 100 emails.
	 *
	 * @param array{emails: list<array{from: string, to: string|list<string>, cc?: string|list<string>, bcc?: string|list<string>, replyTo?: string|list<string>, subject: string, html?: string, text?: string, amp?: string, calendar?: array{method: string, content: string}, type: string, headers?: array<string, string>, attachments?: list<array{filename?: string, content?: string|Bytes|resource, path?: string, url?: string, contentType?: string, contentId?: string, disposition?: string}>, tags?: array<string, string>, scheduledAt?: string, templateId?: string, variables?: array<string, string|float|bool|null>, topicId?: string}>} $body
	 */
	public function sendBatch(array $body, array $options = []): Result
	{
		return $this->calls->send('/emails/batch', $body, $options);
	}
}
