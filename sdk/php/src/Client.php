<?php

declare(strict_types=1);

namespace Postrider;

use Postrider\Resources;

/**
 * A client of a Postrider daemon. Each resource of the API is a property: `$client->emails->send([...])`.
 */
final readonly class Client
{
	public const VERSION = '0.1.0';

	public Resources\ApiKeys $apiKeys;
	public Resources\Approvals $approvals;
	public Resources\Audiences $audiences;
	public Resources\Branding $branding;
	public Resources\Broadcasts $broadcasts;
	public Resources\Contacts $contacts;
	public Resources\Domains $domains;
	public Resources\Emails $emails;
	public Resources\Exports $exports;
	public Resources\Imports $imports;
	public Resources\Inbound $inbound;
	public Resources\Mailboxes $mailboxes;
	public Resources\Metrics $metrics;
	public Resources\Plan $plan;
	public Resources\RequestLog $requestLog;
	public Resources\Segments $segments;
	public Resources\Simulator $simulator;
	public Resources\Suppressions $suppressions;
	public Resources\Templates $templates;
	public Resources\Topics $topics;
	public Resources\Webhooks $webhooks;
	private Transport $transport;

	/**
	 * @param string|null $key API key; by default the environment variable `SERVICE_API_KEY`
	 * @param string|null $baseUrl address of the daemon, such as `https://mail.example.com`; by default `SERVICE_BASE_URL`
	 * @param int $maxRetries number of tries after the first
	 * @param float|null $timeout seconds that a try may take, and one more for each 100 kB of the body; by default 30
	 * @param float|null $deadline seconds that a whole call may take; by default 120, or more for large bodies
	 * @throws PostriderError `invalid_argument`, or `insecure_base_url` for a live key over plain HTTP to another machine
	 */
	public function __construct(
		#[\SensitiveParameter] ?string $key = null,
		?string $baseUrl = null,
		int $maxRetries = 2,
		?float $timeout = null,
		?float $deadline = null,
	) {
		$key ??= self::environment('SERVICE_API_KEY', 'an API key');
		$baseUrl ??= self::environment('SERVICE_BASE_URL', 'the address of a daemon');
		$address = Address::read($baseUrl, $key);
		$this->transport = new Transport($address, new \SensitiveParameterValue($key), $maxRetries, $timeout, $deadline);
		$calls = new Calls($this->transport);
		$this->apiKeys = new Resources\ApiKeys($calls);
		$this->approvals = new Resources\Approvals($calls);
		$this->audiences = new Resources\Audiences($calls);
		$this->branding = new Resources\Branding($calls);
		$this->broadcasts = new Resources\Broadcasts($calls);
		$this->contacts = new Resources\Contacts($calls);
		$this->domains = new Resources\Domains($calls);
		$this->emails = new Resources\Emails($calls);
		$this->exports = new Resources\Exports($calls);
		$this->imports = new Resources\Imports($calls);
		$this->inbound = new Resources\Inbound($calls);
		$this->mailboxes = new Resources\Mailboxes($calls);
		$this->metrics = new Resources\Metrics($calls);
		$this->plan = new Resources\Plan($calls);
		$this->requestLog = new Resources\RequestLog($calls);
		$this->segments = new Resources\Segments($calls);
		$this->simulator = new Resources\Simulator($calls);
		$this->suppressions = new Resources\Suppressions($calls);
		$this->templates = new Resources\Templates($calls);
		$this->topics = new Resources\Topics($calls);
		$this->webhooks = new Resources\Webhooks($calls);
	}

	/** Closes all connections. Later calls are refused. */
	public function close(): void
	{
		$this->transport->close();
	}

	/** @return array<string, mixed> nothing of the key is shown */
	public function __debugInfo(): array
	{
		return $this->transport->__debugInfo();
	}

	/** The key must not be stored by accident. */
	public function __serialize(): never
	{
		throw new \LogicException('A client cannot be serialized.');
	}

	private static function environment(string $name, string $what): string
	{
		$value = getenv($name);
		return is_string($value) && $value !== ''
			? $value
			: throw new PostriderError('invalid_argument', "A client needs $what: give it, or set $name.");
	}
}
