<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Result;

/** The operations of `branding`. */
final readonly class Branding extends Resource
{
	/** Delete the branding. */
	public function delete(array $options = []): void
	{
		$this->calls->delete('/branding', [], $options);
	}

	/** Retrieve the branding. */
	public function get(array $options = []): Result
	{
		return $this->calls->get('/branding', [], [], $options);
	}

	/**
	 * Preview the branding.
	 *
	 * @param array{name?: ?string, color?: ?string, textColor?: ?string, darkColor?: ?string, darkTextColor?: ?string, logo?: ?string, page: string, language?: string} $body
	 */
	public function preview(array $body, array $options = []): Result
	{
		return $this->calls->post('/branding/preview', [], $body, [], $options);
	}

	/**
	 * Set the branding.
	 *
	 * @param array{name?: ?string, color?: ?string, textColor?: ?string, darkColor?: ?string, darkTextColor?: ?string, logo?: ?string} $body
	 */
	public function update(array $body, array $options = []): Result
	{
		return $this->calls->change('PUT', '/branding', [], $body, $options);
	}
}
