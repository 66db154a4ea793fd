import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDownloads, MOST_DOWNLOADS, TOTAL_TIMEOUT_MS } from '../../src/emails/download.ts';
import { loadAttachments } from '../../src/emails/load-attachments.ts';
import type { AttachmentRequest } from '../../src/emails/request/attachments.ts';
import { AppError } from '../../src/system/errors.ts';
import type { Fetch, HttpResponse } from '../../src/system/fetch.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const wanted = {
  path: 'attachments[0].path',
  url: 'https://files.example/a',
  maxBytes: 10,
  timeoutMs: 15_000,
};
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

test('there are never more than sixteen downloads at a time; more are told to come back', async () => {
  const answers: (() => void)[] = [];
  const answer: HttpResponse = { status: 200, headers: {}, body: Buffer.from('a'), truncated: false };
  const fetch = () => new Promise<HttpResponse>((resolve) => answers.push(() => resolve(answer)));
  const downloads = createDownloads({ fetch, clock: createFakeClock(0) });
  const running = Array.from({ length: MOST_DOWNLOADS }, () => downloads.get(wanted));
  await assert.rejects(downloads.get(wanted), isUnavailable);
  answers.shift()?.();
  assert.equal((await running.shift())?.toString(), 'a');
  const next = downloads.get(wanted);
  await assert.rejects(downloads.get(wanted), isUnavailable);
  for (const one of answers) one();
  await Promise.all([...running, next]);
});

test('a download that failed makes room too', async () => {
  const fetch = () => Promise.reject(new Error('no'));
  const downloads = createDownloads({ fetch, clock: createFakeClock(0) });
  for (let round = 0; round < MOST_DOWNLOADS + 1; round++) {
    await assert.rejects(
      downloads.get(wanted),
      (error) => error instanceof AppError && error.options.param === 'attachments[0].path',
    );
  }
});

test('a file has ten seconds, and all files of an email have fifteen', async () => {
  const clock = createFakeClock(0);
  const asked: number[] = [];
  const fetch: Fetch = async ({ timeoutMs }) => {
    asked.push(timeoutMs);
    await clock.advance(6_000);
    return { status: 200, headers: {}, body: Buffer.from('a'), truncated: false };
  };
  const app = { clock, downloads: createDownloads({ fetch, clock }) };
  const request = (at: string): AttachmentRequest => ({
    ...{ at, filename: 'a', contentType: 'a/b', contentId: undefined },
    source: { kind: 'remote', path: `${at}.path`, url: new URL(wanted.url) },
  });
  const requests = ['attachments[0]', 'attachments[1]', 'attachments[2]'].map(request);
  await loadAttachments(app, requests);
  assert.deepEqual(asked, [10_000, 9_000, 3_000]);
  assert.equal(TOTAL_TIMEOUT_MS, 15_000);
  await assert.rejects(
    loadAttachments(app, [...requests, request('attachments[3]')]),
    (error) => error instanceof AppError && error.options.param === 'attachments[3].path',
  );
});
