/** The public pages are asked for as a reader would, and the answer tells whether links in mail work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOriginCheck } from '../../src/links/check-origin.ts';
import { RefusedTargetError } from '../../src/system/blocklist.ts';
import type { Fetch } from '../../src/system/fetch.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { zoneDns } from '../support/zone-dns.ts';

const HOST = 'track.mx.postrider.example';

/** A check whose requests are answered by `fetch`, and the requests. */
function checking({ fetch, hostname = 'mx.postrider.example', url = '', zone = '' }: Given) {
  const asked: string[] = [];
  const clock = createFakeClock(0);
  const config = { hostname, links: { url }, http: { port: 8025 } };
  const app = {
    clock,
    config: config as never,
    dns: zoneDns(zone),
    fetch: (async (request) => {
      asked.push(`${request.method} ${request.url}`);
      return fetch(request);
    }) satisfies Fetch,
  };
  return { asked, clock, ...createOriginCheck(app) };
}
type Given = { fetch: Fetch; hostname?: string; url?: string; zone?: string };

const answer =
  (headers: Record<string, string>, status = 404): Fetch =>
  async () => ({ status, headers, body: Buffer.alloc(0), truncated: false });
const failing =
  (error: Error): Fetch =>
  () =>
    Promise.reject(error);

test('an answer of a daemon is recognised by the id of the request', async () => {
  const { asked, origin, check } = checking({ fetch: answer({ 'x-request-id': 'req_1' }) });
  assert.deepEqual(await check(), { kind: 'answers' });
  assert.deepEqual([origin, asked], [`https://${HOST}`, [`GET https://${HOST}/u/-`]]);
});

test('the answer of another server, an error and a timeout are told apart from it', async () => {
  for (const [fetch, reason] of [
    [answer({}, 200), 'another server answers there, with status 200'],
    [answer({ 'x-request-id': 'x' }), 'another server answers there, with status 404'],
    [failing(new Error('connect ECONNREFUSED')), 'connect ECONNREFUSED'],
    [failing(Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' })), 'ETIMEDOUT'],
  ] as const) {
    assert.deepEqual(await checking({ fetch }).check(), { kind: 'silent', reason });
  }
});

test('an address of this machine itself is not dialled: a public one counts as an answer, a private one does not', async () => {
  const fetch = failing(new RefusedTargetError(HOST));
  for (const [zone, kind] of [
    [`${HOST} A 203.0.113.9`, 'private'],
    [`${HOST} A 93.184.216.34`, 'answers'],
    [`${HOST} AAAA 2a00:1450:4001::1`, 'answers'],
    [`${HOST} A 10.0.0.1`, 'private'],
    ['', 'private'],
  ] as const) {
    assert.deepEqual(await checking({ fetch, zone }).check(), { kind }, zone);
  }
});

test('a daemon without a host name has links that work on its machine only, which needs no request', async () => {
  for (const given of [{ hostname: 'localhost' }, { url: 'http://localhost:1' }]) {
    const { asked, check } = checking({ fetch: failing(new Error('asked')), ...given });
    assert.deepEqual([await check(), asked], [{ kind: 'local' }, []]);
  }
});

test('the result is remembered for a minute, and concurrent checks ask once', async () => {
  const { asked, clock, check } = checking({ fetch: answer({ 'x-request-id': 'req_1' }) });
  await Promise.all([check(), check()]);
  await clock.advance(59_999);
  await check();
  assert.equal(asked.length, 1);
  await clock.advance(1);
  await check();
  assert.equal(asked.length, 2);
});
