/** A broadcast that is really sent: contacts in an audience, the daemon's workers with a fake clock, and a sink. */
import assert from 'node:assert/strict';
import { createBroadcastKind } from '../../../src/broadcasts/worker.ts';
import { dialLoopback } from '../../support/loopback.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { openSpool, SENDER_DOMAIN, type Spool } from '../../support/spool.ts';
import { runDueTasks } from '../../support/tasks.ts';
import type { TestResponse } from '../../support/test-app.ts';
import { TAG } from '../fixtures.ts';

export type Campaign = AsyncDisposable & {
  spool: Spool;
  sink: Awaited<ReturnType<typeof startSmtpSink>>;
  audienceId: string;
  /** Adds a contact and returns its id. */
  addContact(email: string, more?: object): Promise<string>;
  /** Creates a draft of the live mode. */
  draft(more?: object): Promise<string>;
  act(id: string, action: 'send' | 'pause' | 'resume' | 'cancel'): Promise<TestResponse>;
  /** Returns the broadcast, and checks that its counts add up. */
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the response.
  show(id: string): Promise<any>;
  /** Takes steps of the broadcasts' work until nothing is left to do at this time. */
  work(): Promise<void>;
};

const STATES = ['waiting', 'queued', 'delivered', 'bounced', 'suppressed', 'optedOut', 'canceled', 'failed'];
const READERS = 'readers.example';

/** Opens the application with an empty audience. */
export async function openCampaign(): Promise<Campaign> {
  const sink = await startSmtpSink({ keepRaw: true });
  const spool = await openSpool({
    smtpPort: sink.port,
    env: { POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8' },
    system: { dial: dialLoopback },
  });
  spool.addZone(`${READERS} A 127.0.0.1`);
  const key = spool.liveKey;
  const ask = (method: 'GET' | 'POST', path: string, body?: unknown) =>
    spool.request(method, `/v1${path}`, { key, ...(body !== undefined && { body }) });
  const create = async (path: string, body: unknown): Promise<string> => {
    const answer = await ask('POST', path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.id;
  };
  const audienceId = await create('/audiences', { name: 'Readers' });
  return {
    spool,
    sink,
    audienceId,
    addContact: (email, more = {}) => create(`/audiences/${audienceId}/contacts`, { email, ...more }),
    draft: (more = {}) =>
      create('/broadcasts', {
        audienceId,
        from: `Ada <ada@${SENDER_DOMAIN}>`,
        subject: 'News, {{firstName|friend}}',
        html: `<p>Hello {{firstName|friend}}</p><a href="${TAG}">Unsubscribe</a>`,
        ...more,
      }),
    act: (id, action) => ask('POST', `/broadcasts/${id}/${action}`),
    async show(id) {
      const { status, body } = await ask('GET', `/broadcasts/${id}`);
      assert.equal(status, 200);
      const sum = STATES.reduce((total, state) => total + body.counts[state], 0);
      assert.equal(sum, body.counts.recipients, JSON.stringify(body.counts));
      return body;
    },
    work: () => workOff(spool),
    async [Symbol.asyncDispose]() {
      await spool.close();
      await sink.close();
    },
  };
}

/** Maximum number of steps, so that a step that achieves nothing fails the test instead of hanging it. */
const MAX_STEPS = 2_000;

/** Takes steps of the broadcasts' work until nothing is left to do at this time. */
export async function workOff(spool: Spool): Promise<void> {
  const kind = createBroadcastKind(spool.app);
  for (let steps = 0; steps < MAX_STEPS; steps++)
    if ((await runDueTasks(spool.app, kind)).length === 0) return;
  throw new Error('the work of the broadcasts does not end');
}
