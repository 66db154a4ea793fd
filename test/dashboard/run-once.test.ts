/** What is remembered of forms that were sent: enough for a double click, and no more than that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../src/dashboard/page.ts';
import { createRunOnce } from '../../src/dashboard/run-once.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const VIEW: Answer = { title: 'Made', body: 'a secret' };

function world() {
  const clock = createFakeClock(0);
  const runOnce = createRunOnce(clock);
  let runs = 0;
  const send = async (once: string, { session = 'ds_1', formBytes = 100, answer = VIEW } = {}) => {
    await runOnce({ session, once, formBytes }, async () => {
      runs++;
      return answer;
    });
    return runs;
  };
  return { clock, runOnce, send };
}

test('a form runs once, also when both arrive at the same time, and each session has its own forms', async () => {
  const { send } = world();
  await Promise.all([send('a'), send('a')]);
  assert.equal(await send('a'), 1);
  assert.equal(await send('a', { session: 'ds_2' }), 2);
});

test('a form that was refused runs again', async () => {
  const { runOnce, send } = world();
  const refused = async (): Promise<Answer> => {
    throw new Error('no');
  };
  await assert.rejects(runOnce({ session: 'ds_1', once: 'a', formBytes: 1 }, refused));
  assert.equal(await send('a'), 1);
});

test('a page that may hold a large form, a file and what is old are not remembered', async () => {
  const { clock, send } = world();
  await send('large', { formBytes: 1_000_000 });
  assert.equal(await send('large', { formBytes: 1_000_000 }), 2);
  await send('moved', { formBytes: 1_000_000, answer: { to: '/' } });
  assert.equal(await send('moved', { formBytes: 1_000_000, answer: { to: '/' } }), 3);
  const file = { file: { name: 'a', mediaType: 'text/plain', bytes: Buffer.from('a') } };
  await send('file', { answer: file });
  assert.equal(await send('file', { answer: file }), 5);
  await send('old');
  await clock.advance(10 * 60_000);
  assert.equal(await send('old'), 7);
});

test('a session that sends many forms pushes out none of another session', async () => {
  const { send } = world();
  await send('mine', { session: 'ds_2' });
  for (let form = 0; form < 20; form++) await send(`form ${form}`);
  assert.equal(await send('mine', { session: 'ds_2' }), 21);
  assert.equal(await send('form 0'), 22);
});
