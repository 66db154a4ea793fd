/** The large requests: POSTs the bodies of some files, all at the same time, and prints how it went as one line of JSON. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';

export type LargeLoad = { url: string; key: string; files: readonly string[] };

export type LargeLoadResult = {
  /** Epoch milliseconds of the first byte sent and of the last answer. */
  startedAtMs: number;
  endedAtMs: number;
  statuses: number[];
};

const TIMEOUT_MS = 60_000;

const load = JSON.parse(process.argv[2] ?? '') as LargeLoad;
const bodies = load.files.map((file) => readFileSync(file));
const dispatcher = new Agent({ headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
const startedAtMs = Date.now();
const statuses = await Promise.all(bodies.map(post));
const result: LargeLoadResult = { startedAtMs, endedAtMs: Date.now(), statuses };
console.log(JSON.stringify(result));
process.exit(0);

async function post(body: Buffer): Promise<number> {
  const { statusCode, body: answer } = await request(load.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${load.key}`, 'content-type': 'application/json' },
    body,
    dispatcher,
  });
  await answer.dump();
  return statusCode;
}
