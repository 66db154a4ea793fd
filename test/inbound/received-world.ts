/**
 * The application with a clock that is moved by hand, for the tests of received mail. Rows are added through a connection
 * of its own, as features do it inside their writes. The tests of a file share one world and each finds it empty.
 */
import { join } from 'node:path';
import { after } from 'node:test';
import { takeRequestedWakeups } from '../../src/db/commit-wakeups.ts';
import { openWriting } from '../../src/db/connection.ts';
import type { ReceivedMessageRow, ReceivedTaskRow } from '../../src/db/inbound-tables.ts';
import type { Tx } from '../../src/db/operation.ts';
import { insertReceived } from '../../src/inbound/store.ts';
import { listTasksOf } from '../../src/inbound/tasks/read-store.ts';
import { insertTask } from '../../src/inbound/tasks/store.ts';
import type { CrashPoint } from '../../src/system/crash-point.ts';
import { newId } from '../../src/system/ids.ts';
import { countedSide } from '../support/counted-side.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { type LogLine, recordLog } from '../support/record-log.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

export type ReceivedWorld = {
  test: TestApp;
  clock: FakeClock;
  side: Tx;
  /** Lines at level warn and above. */
  logged: LogLine[];
  /** Runs at each crash point. */
  knobs: { crashPoint: CrashPoint };
  /** Adds a message with one pending task for each of these. */
  receive(
    tasks: readonly AddedTask[],
    message?: Partial<ReceivedMessageRow>,
  ): Promise<ReceivedMessageRow['id']>;
  tasks(): Promise<ReceivedTaskRow[]>;
  messages(): Promise<ReceivedMessageRow[]>;
  /** Lets the workers and the database go on, at a clock that stands still, until `check` holds. */
  until(what: string, check: () => boolean | Promise<boolean>): Promise<void>;
};

type AddedTask = Pick<ReceivedTaskRow, 'kind'> & Partial<Pick<ReceivedTaskRow, 'targetId' | 'tenantId'>>;

/** 2027-01-15T08:00:00Z. */
const START_MS = 1_800_000_000_000;

/** Returns how the tests of the calling file find their world; it is closed after them. */
export function shareReceivedWorld(): (run: (world: ReceivedWorld) => Promise<void>) => Promise<void> {
  let shared: Promise<ReceivedWorld & { close(): Promise<void> }> | undefined;
  after(async () => {
    await (await shared)?.close();
  });
  return async (run) => {
    shared ??= openWorld();
    const world = await shared;
    world.logged.length = 0;
    world.knobs.crashPoint = () => {};
    try {
      await run(world);
    } finally {
      for (const table of [
        ...(['receivedTasks', 'receivedRecipients', 'receivedMessages', 'tasks'] as const),
        ...(['blobs', 'storedMail'] as const),
      ])
        await world.side.deleteFrom(table).execute();
    }
  };
}

async function openWorld(): Promise<ReceivedWorld & { close(): Promise<void> }> {
  const clock = createFakeClock(START_MS);
  const knobs: ReceivedWorld['knobs'] = { crashPoint: () => {} };
  const { log, lines: logged } = recordLog();
  const test = await openTestApp({
    system: { clock, log, random: () => 0.5, crashPoint: (...point) => knobs.crashPoint(...point) },
  });
  const database = openWriting(join(test.dataDir, 'postrider.db'), 'NORMAL');
  const side = countedSide(database, test.app.db.changes);
  return {
    test,
    clock,
    side,
    logged,
    knobs,
    async receive(tasks, more) {
      const createdAt = clock.now();
      const id = newId('in', createdAt);
      const tenantId = more?.tenantId ?? test.tenantId;
      await insertReceived(side, { ...MESSAGE, id, tenantId, createdAt, ...more }, []);
      const added = tasks.map((task, position) => ({
        ...{ id: newId('tsk', createdAt), messageId: id, position, createdAt },
        ...{ targetId: 'rt_1', tenantId, ...task },
      }));
      for (const task of added) await insertTask(side, task);
      for (const [name, subjects] of takeRequestedWakeups()) test.app.wakeups.notify(name, subjects);
      return id;
    },
    async tasks() {
      const messages = await side.selectFrom('receivedMessages').select('id').orderBy('id').execute();
      return (await Promise.all(messages.map(({ id }) => listTasksOf(side, id)))).flat();
    },
    messages: () => side.selectFrom('receivedMessages').selectAll().orderBy('id').execute(),
    until: (what, check) =>
      waitUntil(async () => {
        await clock.advance(0);
        return check();
      }, what),
    async close() {
      database.close();
      await test.close();
    },
  };
}

export const MESSAGE: Omit<ReceivedMessageRow, 'id' | 'tenantId' | 'createdAt'> = {
  blobId: null,
  sizeBytes: 100,
  sender: 'ann@sender.example',
  remoteAddress: '192.0.2.1',
  helo: 'mail.sender.example',
  tls: null,
  requireTls: 0,
  utf8: 0,
  trace: '',
  auth: null,
  spamScore: null,
  spamReasons: '[]',
  flagged: 0,
  headerFrom: 'ann@sender.example',
  subject: 'Hello',
  messageId: 'one@sender.example',
  emailId: null,
  endedAt: null,
  contentDeletedAt: null,
  isForRoute: 0,
  dsn: null,
  reportsDelivery: 0,
};
