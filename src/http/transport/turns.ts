/**
 * Begins only some requests in one turn of the event loop, so that requests to other apps of the server, timers and
 * delivery wait a few milliseconds for a flood of requests and not for all of them. The others wait in order. There is at
 * most one for each connection, so their number is bounded.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { nextTurn } from '../../system/next-turn.ts';

/** Maximum number of requests that begin in one turn of the event loop, which then takes about 5 ms. */
export const MAX_BEGUN_PER_TURN = 16;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Returns a handler that calls `handle` for each request, in order, in this turn of the event loop or in a later one. */
export function limitPerTurn(handle: Handler): Handler {
  let waiting: Parameters<Handler>[] = [];
  let begun = 0;

  async function beginOthers(): Promise<void> {
    while (begun > 0) {
      await nextTurn();
      const next = waiting.slice(0, MAX_BEGUN_PER_TURN);
      waiting = waiting.slice(MAX_BEGUN_PER_TURN);
      begun = next.length;
      for (const [request, response] of next) handle(request, response);
    }
  }

  return (request, response) => {
    if (begun >= MAX_BEGUN_PER_TURN) return void waiting.push([request, response]);
    begun += 1;
    if (begun === 1) void beginOthers();
    handle(request, response);
  };
}
