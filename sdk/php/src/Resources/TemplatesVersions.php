<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Page;
use Postrider\Result;

/** The operations of `templates.versions`. */
final readonly class TemplatesVersions extends Resource
{
	/** Retrieve a template version. */
	public function get(string $templateId, string $id, array $options = []): Result
	{
		return $this->calls->get('/templates/{templateId}/versions/{id}', [$templateId, $id], [], $options);
	}

	/**
	 * List template versions.
	 *
	 * @param array{limit?: int, startingAfter?: string, endingBefore?: string, createdAfter?: string, createdBefore?: string} $query
	 */
	public function list(string $templateId, array $query = [], array $options = []): Page
	{
		return $this->calls->page('/templates/{templateId}/versions', [$templateId], $query, $options);
	}

	/** Restore a template version. */
	public function restore(string $templateId, string $id, array $options = []): Result
	{
		return $this->calls->post('/templates/{templateId}/versions/{id}/restore', [$templateId, $id], null, [], $options);
	}
}
