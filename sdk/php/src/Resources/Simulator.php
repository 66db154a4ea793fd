<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Result;

/** The operations of `simulator`. */
final readonly class Simulator extends Resource
{
	/** Remove the reply of the simulator. */
	public function deleteReply(array $options = []): void
	{
		$this->calls->delete('/simulator/reply', [], $options);
	}

	/** Retrieve the reply of the simulator. */
	public function getReply(array $options = []): Result
	{
		return $this->calls->get('/simulator/reply', [], [], $options);
	}

	/**
	 * Choose the reply of the simulator.
	 *
	 * @param array{code: int, enhancedCode?: ?string, text?: string, recipients?: string} $body
	 */
	public function setReply(array $body, array $options = []): Result
	{
		return $this->calls->change('PUT', '/simulator/reply', [], $body, $options);
	}
}
