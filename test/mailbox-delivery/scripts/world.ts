/** An installation whose mailboxes have scripts, and keep what they are given in memory. */
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import type { Database } from 'better-sqlite3';
import type { DeliveryRequest, DeliveryResult } from '../../../src/accounts/delivery.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import type { MailboxRow } from '../../../src/db/mailbox-tables.ts';
import type { Folder } from '../../../src/mail/sieve/run/account.ts';
import { createMailboxKind } from '../../../src/mailbox-delivery/work.ts';
import { createScriptRunner, type ScriptRunner } from '../../../src/mailboxes/scripts/runner.ts';
import { activateScript, putScript } from '../../../src/mailboxes/scripts/store.ts';
import { makeNotificationDue } from '../../../src/queue/notifications-store.ts';
import type { System } from '../../../src/system/system.ts';
import { type MailWorld, openMailWorld, sendMail } from '../../inbound/mail-world.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { runDueTasks } from '../../support/tasks.ts';

/** A message that is stored, in the folder that was asked for. */
export type Stored = DeliveryRequest & { text: string };

export type ScriptWorld = MailWorld & {
  stored: Stored[];
  folders: Folder[];
  /** Replaces answers of mailboxes and of the threads of scripts. */
  replaced: {
    deliver?: (request: DeliveryRequest) => DeliveryResult | undefined;
    run?: ScriptRunner['run'];
    listTargets?: () => Folder[];
    /** Called with the name of each write before it is made. An error that it throws is that of the write. */
    beforeCommit?: (write: string) => void;
  };
  /** Adds a mailbox with this script. */
  add(script: string, fields?: Parameters<typeof addMailbox>[1]): Promise<MailboxRow>;
  activate(mailboxId: MailboxRow['id'], script: string, name?: string): Promise<void>;
  /** Receives a message for a mailbox. The lines of the header come before its text. */
  receive(
    to: string,
    message?: {
      from?: string;
      header?: readonly string[];
      text?: string;
      dsn?: Parameters<typeof sendMail>[1]['dsn'];
    },
  ): Promise<void>;
  /** Runs what is due, and returns how many tasks there were. */
  run(): Promise<number>;
  /** Receives a message, and runs what is due. */
  deliver: ScriptWorld['receive'];
  /** Runs scripts as they run where `replaced` has no other answer. */
  runScripts: ScriptRunner['run'];
  /** Messages that have entered the queue, with their recipients and texts. */
  queued(): Promise<
    { to: string[]; returnPath: string | null; trace: string; text: string; messageId: string }[]
  >;
};

/** Opens the world for the tests of the calling file. */
export async function openScriptWorld(system: Partial<System> = {}): Promise<ScriptWorld> {
  const replaced: ScriptWorld['replaced'] = {};
  const folders: Folder[] = [];
  let runner: ScriptRunner | undefined;
  after(() => runner?.close());
  const runScripts: ScriptRunner['run'] = (job, owner) => {
    runner ??= createScriptRunner(world.app);
    return runner.run(job, owner);
  };
  const run: ScriptRunner['run'] = (job, owner) => (replaced.run ?? runScripts)(job, owner);
  const readAnnotations = async () => [{ entry: '/private/vacation', value: 'on' }];
  const mailboxScripts = {
    scriptRunner: { run },
    mailboxDelivery: { listTargets: async () => replaced.listTargets?.() ?? folders, readAnnotations },
  };
  const world = await openMailWorld({ system, replace: () => ({ mailboxScripts }) });
  const { app } = world;
  const stored: Stored[] = [];
  const db = new Proxy(app.db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'commit') replaced.beforeCommit?.((args[0] as { name: string }).name);
        return value.apply(target, args);
      };
    },
  });
  const kind = createMailboxKind({
    ...app,
    db,
    scriptRunner: { run },
    mailboxDelivery: {
      listTargets: async () => replaced.listTargets?.() ?? folders,
      readAnnotations,
      async deliver(request) {
        const answer = replaced.deliver?.(request);
        if (answer) return answer;
        const isKnown = stored.some(
          ({ mailboxId, deliveryId }) => mailboxId === request.mailboxId && deliveryId === request.deliveryId,
        );
        const { bytes, file } = request.content;
        const text = `${request.prefix}${file ? readFileSync(file.path) : Buffer.from(bytes)}`;
        if (!isKnown) stored.push({ ...request, text });
        return { kind: 'delivered' };
      },
    },
  });
  let mailboxes = 0;
  async function activate(mailboxId: MailboxRow['id'], content: string, name = 'rules'): Promise<void> {
    await app.db.commit(putScript, { mailboxId, name, content, now: 1 });
    await app.db.commit(activateScript, { mailboxId, name });
  }
  const scriptWorld: ScriptWorld = {
    ...world,
    runScripts,
    stored,
    folders,
    replaced,
    activate,
    async add(script, fields) {
      const mailbox = await addMailbox(world.test, {
        address: `user${++mailboxes}@people.example`,
        ...fields,
      });
      await activate(mailbox.id, script);
      return mailbox;
    },
    async receive(to, { from = 'ann@sender.example', header = [], text = 'Hello', dsn } = {}) {
      const fields = [
        `From: ${from}`,
        `To: ${to}`,
        'Subject: Greetings',
        'Message-ID: <one@sender.example>',
        ...header,
      ];
      const message = `${fields.join('\r\n')}\r\n\r\n${text}\r\n`;
      const reply = await sendMail(await world.open(), { from, to, message, dsn });
      if (!reply.startsWith('250 ')) throw new Error(reply);
    },
    async run() {
      await world.clock.advance(100);
      return (await runDueTasks(app, kind)).length;
    },
    async deliver(...message) {
      await scriptWorld.receive(...message);
      await scriptWorld.run();
    },
    async queued() {
      const messages = await app.db.read.selectFrom('messages').selectAll().orderBy('id').execute();
      return Promise.all(
        messages.map(async ({ id, blobId, returnPath, traceFields }) => {
          const recipients = await app.db.read
            .selectFrom('recipients')
            .select('address')
            .where('messageId', '=', id)
            .execute();
          const content = blobId === null ? undefined : await app.blobs.open(blobId);
          const to = recipients.map(({ address }) => address);
          const text = content?.inline?.toString() ?? '';
          return { to, returnPath, trace: traceFields ?? '', text, messageId: id };
        }),
      );
    },
  };
  return scriptWorld;
}

/** Makes the notifications about all messages due that have one, as the failures of the messages do. */
export async function makeNotificationsDue(side: Database): Promise<void> {
  const tx = kyselyOn(side);
  for (const recipient of await tx.selectFrom('recipients').select(['messageId', 'queue']).execute())
    await makeNotificationDue(tx, recipient, 1);
}
