<?php

declare(strict_types=1);

namespace Postrider;

/**
 * Reports that a call has failed: every error of this library is one.
 *
 * `type` is the code of the answer, such as `not_found`, or one of the library: `connection_error`, `timeout`, `canceled`, `invalid_response`,
 * `http_error`, `insecure_base_url`, `invalid_argument`, `invalid_signature`, `closed`.
 */
final class PostriderError extends \RuntimeException
{
	/**
	 * @param string $type code for programs
	 * @param int|null $status HTTP status; null when there was no answer
	 * @param string|null $param field that the error is about
	 * @param list<array{path: string, message: string}> $issues wrong fields and what is wrong with each
	 * @param array<string, mixed> $details details of the code
	 * @param string|null $requestId id of the request, which the log of the daemon has
	 * @param float|null $retryAfter seconds after which the same request may succeed
	 * @param array<string, string> $headers headers of the answer; names in lower case
	 * @param string|null $idempotencyKey key of a send, with which the program may ask again
	 */
	public function __construct(
		public readonly string $type,
		string $message,
		public readonly ?int $status = null,
		public readonly ?string $param = null,
		public readonly array $issues = [],
		public readonly array $details = [],
		public readonly ?string $requestId = null,
		public readonly ?float $retryAfter = null,
		public readonly array $headers = [],
		public readonly ?string $idempotencyKey = null,
		?\Throwable $previous = null,
	) {
		parent::__construct($message, 0, $previous);
	}

	/** Returns the same error with the key of the send that has failed. */
	public function withIdempotencyKey(?string $key): self
	{
		return new self(
			$this->type,
			$this->getMessage(),
			$this->status,
			$this->param,
			$this->issues,
			$this->details,
			$this->requestId,
			$this->retryAfter,
			$this->headers,
			$key,
			$this->getPrevious(),
		);
	}
}
