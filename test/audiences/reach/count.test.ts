/** The judgement about a whole audience is that which each address gets when mail is sent (queue/exclusions.ts). */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { ALL_TOPICS } from '../../../src/audiences/choices-store.ts';
import { decide } from '../../../src/audiences/contacts/decide.ts';
import { countReached } from '../../../src/audiences/reach/count.ts';
import { createScans } from '../../../src/audiences/segments/scan.ts';
import { findExclusions } from '../../../src/queue/exclusions.ts';
import { findTopic } from '../../../src/topics/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);

const world = await openTestApp({ system: { clock } });
const topic = async (name: string, defaultOptIn: boolean) =>
  (await post('/topics', { name, defaultOptIn })).id;
const topics = { on: await topic('on', true), off: await topic('off', false) };
after(() => world.close());

async function post(path: string, body: object) {
  const answer = await world.request('POST', `/v1${path}`, { body });
  assert.ok(answer.status === 201 || answer.status === 200, JSON.stringify(answer.body));
  return answer.body;
}

/** A scan with slices of two contacts, so that a few contacts need several. */
const scanning = () => ({
  db: world.app.db,
  scans: createScans(world.app, {
    minContacts: 2,
    maxContacts: 2,
    sliceMs: 100,
    maxConcurrentSlices: 2,
    maxSlicesPerPage: 2,
    maxScans: 3,
    scansPerFree: 1,
  }),
});

async function count(audienceId: string, topicId: string | undefined, filter?: never) {
  const topic =
    topicId === undefined ? undefined : await findTopic(world.app.db.read, world.tenantId, topicId);
  const { tenantId } = world;
  return countReached(scanning(), {
    tenantId,
    audienceId: audienceId as `aud_${string}`,
    filter,
    topic,
    now: clock.now(),
  });
}

const CHOICES = ['none', 'unsubscribed', 'optIn', 'optOut', 'decidedOut', 'decidedAll', 'decidedIn'] as const;
const person = fc.record({
  choice: fc.constantFrom(...CHOICES),
  elsewhere: fc.constantFrom('no', 'unsubscribed', 'deleted'),
  isSuppressed: fc.boolean(),
});

test('every contact is counted once, under the reason that sending would give', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(person, { minLength: 1, maxLength: 7 }),
      fc.constantFrom('on', 'off'),
      async (people, kind) => {
        const topicId = topics[kind as 'on' | 'off'];
        const [here, elsewhere, deleted] = [
          (await post('/audiences', { name: 'here' })).id,
          (await post('/audiences', { name: 'elsewhere' })).id,
          (await post('/audiences', { name: 'deleted' })).id,
        ];
        const addresses: string[] = [];
        for (const [index, { choice, elsewhere: other, isSuppressed }] of people.entries()) {
          await clock.advance(1);
          const email = `p${index}-${here.slice(-8)}@rcpt.example`;
          addresses.push(email);
          const chosen = choice === 'optIn' ? 'opt_in' : 'opt_out';
          await post(`/audiences/${here}/contacts`, {
            email,
            unsubscribed: choice === 'unsubscribed',
            ...((choice === 'optIn' || choice === 'optOut') && {
              topics: [{ id: topicId, subscription: chosen }],
            }),
          });
          if (other !== 'no')
            await post(`/audiences/${other === 'deleted' ? deleted : elsewhere}/contacts`, {
              email,
              unsubscribed: true,
            });
          if (isSuppressed) await post('/suppressions', { email });
          const decision = {
            decidedOut: { [topicId]: false },
            decidedIn: { [topicId]: true },
            decidedAll: { [ALL_TOPICS]: false },
          };
          if (choice in decision)
            await decide(world.app, {
              tenantId: world.tenantId,
              address: email,
              choices: decision[choice as keyof typeof decision],
            });
        }
        await world.request('DELETE', `/v1/audiences/${deleted}`);
        const reach = await count(here, topicId);
        const excluded = await findExclusions(world.app.db.read, world.tenantId, {
          kind: 'broadcast',
          topicId: topicId as `top_${string}`,
          addresses,
        });
        const suppressed = people.filter(({ isSuppressed }) => isSuppressed).length;
        assert.equal(reach.receives, people.length - excluded.size);
        assert.equal(reach.suppressed, suppressed);
        assert.equal(reach.unsubscribed + reach.optedOut + reach.notOptedIn, excluded.size - suppressed);
        if (kind === 'on') assert.equal(reach.notOptedIn, 0);
      },
    ),
    { numRuns: 25 },
  );
});

test('the newest contact that gets the mail is named, and none when nobody does', async () => {
  const audienceId = (await post('/audiences', { name: 'newest' })).id;
  assert.deepEqual(await count(audienceId, undefined), {
    ...{ receives: 0, suppressed: 0, unsubscribed: 0, optedOut: 0, notOptedIn: 0 },
    newest: undefined,
  });
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    await clock.advance(1);
    const body = { email: `n${index}@rcpt.example`, unsubscribed: index > 2 };
    ids.push((await post(`/audiences/${audienceId}/contacts`, body)).id);
  }
  const reach = await count(audienceId, undefined);
  assert.deepEqual([reach.receives, reach.unsubscribed, reach.newest], [3, 2, ids[2]]);
});
