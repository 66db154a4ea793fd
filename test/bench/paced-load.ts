/**
 * A load at a fixed rate: requests leave at their planned times, whether or not earlier ones have been answered, and a
 * latency counts from the planned time. A server that falls behind therefore shows it.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './percentile.ts';

export type PacedLoad = {
  /** Where the request with this number goes, when they do not all go to one place. */
  url: URL | ((index: number) => URL);
  /** Content-Type is JSON unless it is among them. */
  headers: Readonly<Record<string, string>>;
  /** Header fields of the request with this number alone. */
  headersOf?: (index: number) => Readonly<Record<string, string>>;
  /** Body of the request with this number. */
  bodyOf: (index: number) => string;
  perSecond: number;
};

export type PacedResult = { requests: number; p50Ms: number; p99Ms: number; maxMs: number; refused: number };

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Runs the load until `isOver` returns true, and then waits for the answers. */
export async function runPaced(load: PacedLoad, isOver: () => boolean): Promise<PacedResult> {
  const startedAt = performance.now();
  const latencies: number[] = [];
  const open = new Set<Promise<void>>();
  let refused = 0;
  for (let index = 0; !isOver(); index++) {
    const plannedAt = startedAt + (index * 1_000) / load.perSecond;
    const early = plannedAt - performance.now();
    if (early > 1) await delay(early);
    const sent = post(load, index).then((status) => {
      latencies.push(performance.now() - plannedAt);
      if (status !== 200) refused++;
    });
    open.add(sent);
    void sent.finally(() => open.delete(sent));
  }
  await Promise.all(open);
  return {
    requests: latencies.length,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: percentile(latencies, 1),
    refused,
  };
}

function post({ url, headers, headersOf, bodyOf }: PacedLoad, index: number): Promise<number> {
  const body = bodyOf(index);
  return new Promise((resolve, reject) => {
    const sent = request(typeof url === 'function' ? url(index) : url, {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        ...headers,
        ...headersOf?.(index),
        'content-length': Buffer.byteLength(body),
      },
    });
    sent.once('response', (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
