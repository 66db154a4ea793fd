<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Calls;
use Postrider\Page;
use Postrider\Result;

/** The operations of `templates`. */
final readonly class Templates extends Resource
{
	public TemplatesVersions $versions;

	public function __construct(Calls $calls)
	{
		parent::__construct($calls);
		$this->versions = new TemplatesVersions($calls);
	}

	/**
	 * Create a template.
	 *
	 * @param array{name: string, subject: string, html: string, text?: ?string} $body
	 */
	public function create(array $body, array $options = []): Result
	{
		return $this->calls->post('/templates', [], $body, [], $options);
	}

	/** Delete a template. */
	public function delete(string $id, array $options = []): void
	{
		$this->calls->delete('/templates/{id}', [$id], $options);
	}

	/** Retrieve a template. */
	public function get(string $id, array $options = []): Result
	{
		return $this->calls->get('/templates/{id}', [$id], [], $options);
	}

	/**
	 * List templates.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string, name?: string} $query
	 */
	public function list(array $query = [], array $options = []): Page
	{
		return $this->calls->page('/templates', [], $query, $options);
	}

	/**
	 * Preview a template.
	 *
	 * @param array{subject: string, html: string, text?: ?string, variables?: array<string, string|float|bool|null>} $body
	 */
	public function preview(array $body, array $options = []): Result
	{
		return $this->calls->post('/templates/preview', [], $body, [], $options);
	}

	/**
	 * Update a template.
	 *
	 * @param array{name?: string, subject?: string, html?: string, text?: ?string} $body
	 */
	public function update(string $id, array $body, array $options = []): Result
	{
		return $this->calls->change('PATCH', '/templates/{id}', [$id], $body, $options);
	}
}
