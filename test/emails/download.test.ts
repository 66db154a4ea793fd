import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createDownloads,
  type Downloads,
  MAX_DOWNLOADS,
  TOTAL_TIMEOUT_MS,
} from '../../src/emails/download.ts';
import { loadAttachments } from '../../src/emails/load-attachments.ts';
import type { AttachmentRequest } from '../../src/emails/request/attachments.ts';
import { AppError } from '../../src/system/errors.ts';
import { BudgetExhaustedError, type HttpResponse } from '../../src/system/fetch/answer.ts';
import type { Fetch } from '../../src/system/fetch.ts';
import { createByteBudget } from '../../src/system/guards/byte-budget.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MIB = 1024 * 1024;
const wanted = {
  tenantId: 'ten_a',
  path: 'attachments[0].path',
  url: 'https://files.example/a',
  maxBytes: 10,
  timeoutMs: 15_000,
} as const;
const ANSWER: HttpResponse = { status: 200, headers: {}, body: Buffer.from('a'), truncated: false };

/** A refusal that passes by itself. */
const isUnavailable = (error: unknown) =>
  error instanceof AppError && error.code === 'unavailable' && (error.options.retryAfterSeconds ?? 0) > 0;

function open(fetch: Fetch, clock = createFakeClock(0)) {
  const bodies = createByteBudget();
  const metrics = createMetrics(clock);
  return { bodies, metrics, downloads: createDownloads({ fetch, clock, metrics, bodies }) };
}

/** Answers when told to. */
function held() {
  const answers: (() => void)[] = [];
  const fetch = () => new Promise<HttpResponse>((resolve) => answers.push(() => resolve(ANSWER)));
  return { answers, fetch };
}

/** As much of the room as the file needs, then the file. */
const fileOf =
  (bytes: number): Fetch =>
  async ({ reserveBytes }) => {
    if (reserveBytes?.(bytes)) return ANSWER;
    throw new BudgetExhaustedError('no room');
  };

const remote = (at: string): AttachmentRequest => ({
  ...{ at, filename: 'a', contentType: 'a/b', contentId: undefined },
  source: { kind: 'remote', path: `${at}.path`, url: new URL(wanted.url) },
});

test('a tenant has at most half of the concurrent downloads; further ones are told to retry, and other tenants are not affected', async () => {
  const { answers, fetch } = held();
  const { downloads, metrics } = open(fetch);
  const running = Array.from({ length: MAX_DOWNLOADS / 2 }, () => downloads.get(wanted));
  await assert.rejects(downloads.get(wanted), isUnavailable);
  const shed = 'postrider_http_requests_shed_total{reason="downloads"} 1';
  assert.ok((await metrics.show()).text.includes(shed));
  answers.shift()?.();
  assert.equal((await running.shift())?.bytes.toString(), 'a');
  running.push(downloads.get(wanted));
  const others = Array.from({ length: 4 }, () => downloads.get({ ...wanted, tenantId: 'ten_b' }));
  await assert.rejects(downloads.get({ ...wanted, tenantId: 'ten_b' }), isUnavailable);
  for (const tenantId of ['ten_c', 'ten_d'] as const) others.push(downloads.get({ ...wanted, tenantId }));
  for (const one of answers) one();
  await Promise.all([...running, ...others]);
});

test('at most sixteen downloads run at the same time, for all tenants together', async () => {
  const { answers, fetch } = held();
  const { downloads } = open(fetch);
  const get = (index: number) => downloads.get({ ...wanted, tenantId: `ten_${index}` });
  const running = Array.from({ length: MAX_DOWNLOADS }, (_, index) => get(index));
  await assert.rejects(get(99), isUnavailable);
  answers.shift()?.();
  await running.shift();
  const next = get(99);
  for (const one of answers) one();
  await Promise.all([...running, next]);
});

test('a failed download frees its slot', async () => {
  const { downloads } = open(() => Promise.reject(new Error('no')));
  for (let round = 0; round < MAX_DOWNLOADS + 1; round++) {
    await assert.rejects(
      downloads.get(wanted),
      (error) => error instanceof AppError && error.options.param === 'attachments[0].path',
    );
  }
});

test('downloaded files count towards the budget of bodies until they are disposed of, within the share of the tenant', async () => {
  const { downloads, bodies } = open(fileOf(25 * MIB));
  const files = [];
  for (let count = 0; count < 6; count++) files.push(await downloads.get(wanted));
  assert.equal(bodies.usedBytes, 150 * MIB);
  await assert.rejects(downloads.get(wanted), isUnavailable);
  assert.equal(bodies.usedBytes, 150 * MIB);
  files.push(await downloads.get({ ...wanted, tenantId: 'ten_b' }));
  files.pop()?.[Symbol.dispose]();
  files.pop()?.[Symbol.dispose]();
  assert.equal(bodies.usedBytes, 125 * MIB);
  files.push(await downloads.get(wanted));
});

test('the files of an email are held until it is done with, and none of one that is refused half-way', async () => {
  const clock = createFakeClock(0);
  let fetches = 0;
  const { downloads, bodies } = open((request) => {
    fetches++;
    return fetches === 4 ? Promise.reject(new Error('no')) : fileOf(10 * MIB)(request);
  }, clock);
  const app: { clock: typeof clock; downloads: Downloads } = { clock, downloads };
  const requests = ['attachments[0]', 'attachments[1]'].map(remote);
  const loaded = await loadAttachments(app, 'ten_a', { requests, allowance: undefined });
  assert.equal(bodies.usedBytes, 20 * MIB);
  loaded[Symbol.dispose]();
  assert.equal(bodies.usedBytes, 0);
  await assert.rejects(loadAttachments(app, 'ten_a', { requests, allowance: undefined }), AppError);
  assert.deepEqual([fetches, bodies.usedBytes], [4, 0]);
});

test('a file has ten seconds, and all files of an email have fifteen', async () => {
  const clock = createFakeClock(0);
  const asked: number[] = [];
  const fetch: Fetch = async ({ timeoutMs }) => {
    asked.push(timeoutMs);
    await clock.advance(6_000);
    return ANSWER;
  };
  const app = { clock, downloads: open(fetch, clock).downloads };
  const requests = ['attachments[0]', 'attachments[1]', 'attachments[2]'].map(remote);
  await loadAttachments(app, 'ten_a', { requests, allowance: undefined });
  assert.deepEqual(asked, [10_000, 9_000, 3_000]);
  assert.equal(TOTAL_TIMEOUT_MS, 15_000);
  await assert.rejects(
    loadAttachments(app, 'ten_a', {
      requests: [...requests, remote('attachments[3]')],
      allowance: undefined,
    }),
    (error) => error instanceof AppError && error.options.param === 'attachments[3].path',
  );
});

test('the files of a batch have a limit of time and one of bytes together', async () => {
  const clock = createFakeClock(0);
  const sizes: number[] = [];
  const asked: number[] = [];
  const fetch: Fetch = async (request) => {
    asked.push(request.timeoutMs);
    sizes.push(request.maxResponseBytes);
    await clock.advance(4_000);
    return { ...ANSWER, body: Buffer.alloc(10 * MIB) };
  };
  const app = { clock, downloads: open(fetch, clock).downloads };
  const allowance = { until: 7_000, leftBytes: 22 * MIB };
  const load = (...requests: ReturnType<typeof remote>[]) =>
    loadAttachments(app, 'ten_a', { requests, allowance });
  (await load(remote('attachments[0]')))[Symbol.dispose]();
  (await load(remote('attachments[0]')))[Symbol.dispose]();
  assert.deepEqual(asked, [7_000, 3_000]);
  assert.deepEqual(sizes, [22 * MIB, 12 * MIB]);
  const refused = (error: unknown) =>
    error instanceof AppError &&
    error.code === 'validation_error' &&
    error.options.param === 'attachments[0].path';
  await assert.rejects(load(remote('attachments[0]')), refused);
  assert.equal(asked.length, 2, 'nothing is fetched without time');
  await assert.rejects(
    loadAttachments(app, 'ten_a', {
      requests: [remote('attachments[0]')],
      allowance: { until: 60_000, leftBytes: 0 },
    }),
    refused,
  );
  assert.equal(asked.length, 2, 'nothing is fetched without room');
});
