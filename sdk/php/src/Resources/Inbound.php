<?php

declare(strict_types=1);

namespace Postrider\Resources;

use Postrider\Calls;

/** Received mail: its routes and messages. */
final readonly class Inbound
{
	public InboundMessages $messages;
	public InboundRoutes $routes;

	public function __construct(Calls $calls)
	{
		$this->messages = new InboundMessages($calls);
		$this->routes = new InboundRoutes($calls);
	}
}
