/** Runs of imports from our own IMAP server with mail in memory. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { NO_COUNTS } from '../../src/mailbox-imports/counts.ts';
import { createSourceIds } from '../../src/mailbox-imports/import-folder.ts';
import { createTargetCalls } from '../../src/mailbox-imports/reader.ts';
import { endMailbox, updateMailbox } from '../../src/mailboxes/store.ts';
import { createTargetGuard } from '../../src/system/blocklist.ts';
import { createDial } from '../../src/system/dial.ts';
import { AppError } from '../../src/system/errors.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { createImporter, HOST, type Script, sourceSystem, startScripted, startSource } from './fixture.ts';

const world = await openTestApp();
after(() => world.close());

const letter = (subject: string) => `Subject: ${subject}\r\n\r\n${subject}\r\n`;

test('an import keeps folders, flags, keywords and dates, and a second one adds what is new', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.addFolder('Gesendet', '\\Sent');
  await mail.addFolder('Lists/dev');
  await mail.deliver('INBOX', letter('one'), { flags: ['\\Seen', '$Forwarded', 'todo'] });
  await mail.deliver('Gesendet', letter('two'));
  await mail.deliver('Lists/dev', letter('three'), { flags: ['\\Flagged'] });
  const { run, contents } = await createImporter(world);
  const first = await run(port);
  assert.deepEqual(first.errors, []);
  assert.deepEqual(first.end, { kind: 'completed' });
  const { imported, known, failed, messages, foldersDone } = first.counts;
  assert.deepEqual(
    { imported, known, failed, messages, foldersDone },
    { imported: 3, known: 0, failed: 0, messages: 3, foldersDone: 4 },
  );
  const flagsIn = (folder: string) => contents.folders.get(folder)?.map(({ flags }) => [...flags].sort());
  assert.deepEqual(flagsIn('INBOX'), [['$Forwarded', '\\Seen', 'todo']]);
  assert.deepEqual(flagsIn('Sent'), [[]]);
  assert.deepEqual(flagsIn('Lists/dev'), [['\\Flagged']]);
  await mail.deliver('INBOX', letter('four'));
  const second = await run(port);
  assert.equal(second.counts.imported, 1);
  assert.equal(second.counts.known, 3);
});

test('nobody logs in for a suspended mailbox', async (t) => {
  const commands: string[] = [];
  const port = await startScripted(t, (command) => {
    commands.push(command);
    return undefined;
  });
  const { run, mailbox } = await createImporter(world);
  const { end } = await run(port, {
    async beforeTurn() {
      const change = { status: 'suspended' } as const;
      await world.app.db.commit(updateMailbox, { tenantId: world.tenantId, id: mailbox.id, change, now: 0 });
    },
  });
  assert.deepEqual(end, { kind: 'interrupted', error: 'The mailbox is suspended', hasImported: false });
  assert.deepEqual(commands, []);
});

test('a folder that is known is not recorded once more', async () => {
  const { db } = world.app;
  const writes: string[] = [];
  const recording: typeof db = Object.create(db, {
    commit: {
      value: (write: Parameters<typeof db.commit>[0], input: unknown) => {
        writes.push(write.name);
        return db.commit(write, input);
      },
    },
  });
  const { mailbox, contents } = await createImporter(world);
  const app = { ...world.app, db: recording };
  const { openFolder } = createTargetCalls(app, { contents, listTargets: async () => [] });
  const opened = { mailboxId: mailbox.id, folderKey: 'a', uidValidity: '1' };
  assert.deepEqual(await openFolder(opened), { mayRepeat: false });
  assert.deepEqual(await openFolder(opened), { mayRepeat: false });
  assert.deepEqual(await openFolder({ ...opened, uidValidity: '2' }), { mayRepeat: true });
  assert.deepEqual(await openFolder({ ...opened, uidValidity: '2' }), { mayRepeat: true });
  assert.equal(writes.length, 2);
});

test('STARTTLS protects the login', async (t) => {
  const { port, mail } = await startSource(t, { mode: 'starttls' });
  await mail.deliver('INBOX', letter('one'));
  const { run } = await createImporter(world);
  const { end, counts } = await run(port, { security: 'starttls' });
  assert.deepEqual(end, { kind: 'completed' });
  assert.equal(counts.imported, 1);
});

test('without STARTTLS, or with octets between it and the handshake, nothing secret is sent', async (t) => {
  const offer = '* CAPABILITY IMAP4rev1 STARTTLS\r\nTAG OK done\r\n';
  const answers: { greeting?: string; capability?: string; starttls?: string }[] = [
    {},
    { greeting: '* PREAUTH [CAPABILITY IMAP4rev1 STARTTLS] hello' },
    { capability: offer, starttls: 'TAG NO not now\r\n' },
    { capability: offer, starttls: 'TAG OK begin\r\n* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n' },
  ];
  for (const { greeting, capability, starttls } of answers) {
    const commands: string[] = [];
    const script: Script = (command) => {
      commands.push(command.split(' ')[0] ?? '');
      if (command === 'CAPABILITY') return capability;
      return command === 'STARTTLS' ? starttls : undefined;
    };
    const port = await startScripted(t, script, { isPlain: true, greeting });
    const { run } = await createImporter(world);
    const { end } = await run(port, { security: 'starttls' });
    assert.equal(end.kind === 'failed' && end.reason, 'source_refused', JSON.stringify(end));
    assert.deepEqual(
      commands.filter((name) => !['CAPABILITY', 'STARTTLS'].includes(name)),
      [],
    );
  }
});

test('a wrong password ends the import, and says so', async (t) => {
  const { port } = await startSource(t);
  const { run } = await createImporter(world);
  const { end } = await run(port, { password: 'wrong' });
  assert.equal(end.kind === 'failed' && end.reason, 'login_refused');
});

test('a login that was right before may be refused for a while, unless the server says that it is for good', async (t) => {
  let answer = '';
  const port = await startScripted(t, (command) => (command.startsWith('LOGIN') ? answer : undefined));
  const { run } = await createImporter(world);
  const endOf = async (code: string, hasLoggedIn: boolean) => {
    answer = `TAG NO ${code}Too many simultaneous connections\r\n`;
    const { end } = await run(port, { hasLoggedIn });
    return end.kind === 'failed' ? end.reason : end.kind;
  };
  assert.equal(await endOf('', true), 'interrupted');
  assert.equal(await endOf('', false), 'login_refused');
  assert.equal(await endOf('[AUTHENTICATIONFAILED] ', true), 'login_refused');
  assert.equal(await endOf('[SERVERBUG] ', false), 'interrupted');
});

test('a large message is stored as it is, beside a small one', async (t) => {
  const { port, mail } = await startSource(t);
  const text = `Subject: large\r\n\r\n${'0123456789abcdef\r\n'.repeat(70_000)}`;
  await mail.deliver('INBOX', letter('small'));
  await mail.deliver('INBOX', text);
  const { run, contents } = await createImporter(world);
  const { end, errors } = await run(port);
  assert.deepEqual(errors, []);
  assert.deepEqual(end, { kind: 'completed' });
  assert.ok(
    contents.folders.get('INBOX')?.some(({ content }) => Buffer.from(content).equals(Buffer.from(text))),
  );
});

test('a large message leaves no file behind', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.deliver('INBOX', letter('x'.repeat(1_100_000)));
  const { run, spoolFolder } = await createImporter(world);
  assert.equal((await run(port)).counts.imported, 1);
  assert.ok(!existsSync(spoolFolder));
});

test('with another UIDVALIDITY, messages are found again by their content', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.deliver('INBOX', letter('one'));
  await mail.deliver('INBOX', letter('two'));
  const { run, contents, target } = await createImporter(world);
  await run(port);
  await mail.account.db.maintain((connection) =>
    connection.exec(`UPDATE folders SET "uidValidity" = "uidValidity" + 1 WHERE name = 'INBOX'`),
  );
  await mail.deliver('INBOX', letter('three'));
  const second = await run(port);
  assert.deepEqual([second.counts.imported, second.counts.known], [1, 2]);
  assert.equal(contents.folders.get('INBOX')?.length, 3);
  const asked: number[] = [];
  const { findMissing } = target;
  target.findMissing = async (input) => {
    const missing = await findMissing(input);
    asked.push(missing.length);
    return missing;
  };
  const third = await run(port);
  assert.deepEqual([third.counts.imported, third.counts.known], [0, 3]);
  assert.deepEqual(asked, [0], 'messages that are known by their content are not fetched again');
});

test('equal messages of a folder are all imported', async (t) => {
  const { port, mail } = await startSource(t);
  for (let number = 0; number < 3; number++) await mail.deliver('INBOX', letter('same'));
  const { run, contents } = await createImporter(world);
  await run(port);
  assert.equal(contents.folders.get('INBOX')?.length, 3);
});

test('messages of another user, server, folder or UIDVALIDITY have other ids', () => {
  const idOf = ({ host = 'h', user = 'u', path = 'p', uidValidity = '1' }) =>
    createSourceIds({ host, user }).byUid({ path, uidValidity }, 1);
  const others = [{}, { host: 'x' }, { user: 'x' }, { path: 'x' }, { uidValidity: '2' }].map(idOf);
  assert.equal(new Set(others).size, others.length);
});

test('a full mailbox ends the import, and what was stored before stays', async (t) => {
  const { port, mail } = await startSource(t);
  for (let number = 0; number < 201; number++) await mail.deliver('INBOX', letter(`${number}`));
  const { run, contents, target } = await createImporter(world);
  const { add } = target;
  let batches = 0;
  target.add = async (input) => {
    batches += 1;
    if (batches > 1) throw new AppError('invalid_state', 'The mailbox is full; raise its quota');
    return add(input);
  };
  const { end, counts } = await run(port);
  assert.deepEqual(end, {
    kind: 'failed',
    reason: 'mailbox_full',
    error: 'The mailbox is full; raise its quota',
  });
  assert.equal(counts.imported, 200);
  target.add = add;
  const again = await run(port);
  assert.deepEqual([again.counts.imported, again.counts.known], [1, 200]);
  assert.equal(contents.folders.get('INBOX')?.length, 201);
});

test('a folder that the mailbox cannot have is an error, and the others are imported', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.addFolder('Refused');
  await mail.deliver('Refused', letter('one'));
  await mail.deliver('INBOX', letter('two'));
  const { run, target } = await createImporter(world);
  const { add } = target;
  target.add = async (input) => {
    if (input.folder === 'Refused') throw new AppError('validation_error', 'You have 10000 mailboxes');
    return add(input);
  };
  const { end, errors, counts } = await run(port);
  assert.deepEqual(end, { kind: 'completed' });
  assert.deepEqual(errors, [{ folder: 'Refused', uid: 0, message: 'You have 10000 mailboxes' }]);
  assert.deepEqual([counts.messages, counts.imported, counts.failed, counts.foldersDone], [2, 1, 1, 2]);
});

test('private addresses and our own are refused in the same words as a name without an address', async () => {
  const guard = createTargetGuard({ allow: [], own: ['203.0.113.9'] });
  for (const zone of [`${HOST} A 127.0.0.1`, `${HOST} A 10.0.0.1`, `${HOST} A 203.0.113.9`, '']) {
    const { app } = world;
    const { run } = await createImporter(world, {
      dns: zoneDns(zone),
      targets: guard,
      dial: createDial(guard, app.clock),
    });
    const { end } = await run(993);
    assert.deepEqual(
      end,
      { kind: 'failed', reason: 'source_refused', error: `${HOST} has no public address` },
      zone,
    );
  }
});

test('the address that the guard allows is the one that is connected to, whatever DNS says later', async (t) => {
  const { port } = await startSource(t);
  const guard = createTargetGuard({ allow: [], own: [] });
  const answers = ['203.0.114.7', '127.0.0.1'];
  const dialed: string[] = [];
  const { dial } = sourceSystem(world.app.clock);
  const empty = zoneDns('');
  const { run } = await createImporter(world, {
    dns: {
      ...empty,
      fresh: { ...empty.fresh, a: async () => ({ kind: 'found', records: answers.splice(0, 1), ttlMs: 0 }) },
    },
    targets: guard,
    async dial({ address, port, timeoutMs }) {
      dialed.push(`${address} ${port}`);
      return dial({ address: '127.0.0.1', port, timeoutMs });
    },
  });
  assert.equal((await run(port)).end.kind, 'completed');
  assert.deepEqual(dialed, [`203.0.114.7 ${port}`]);
  assert.equal((await run(port)).end.kind, 'failed');
  assert.equal(dialed.length, 1);
});

test('a disk without its reserve interrupts an import before anything is stored', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.deliver('INBOX', letter('one'));
  const { run, contents } = await createImporter(
    world,
    {},
    {
      requireReserve() {
        throw new AppError('unavailable', 'The disk is full');
      },
    },
  );
  const { end } = await run(port);
  assert.deepEqual(end, { kind: 'interrupted', error: 'The disk is full', hasImported: false });
  assert.deepEqual(contents.folders.get('INBOX') ?? [], []);
});

test('a disk without its reserve takes no large message on its way', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.deliver('INBOX', letter('x'.repeat(1_100_000)));
  const wasOnDisk: boolean[] = [];
  const importer = await createImporter(
    world,
    {},
    {
      requireReserve() {
        wasOnDisk.push(existsSync(importer.spoolFolder));
        throw new AppError('unavailable', 'The disk is full');
      },
    },
  );
  const { end } = await importer.run(port);
  assert.deepEqual(end, { kind: 'interrupted', error: 'The disk is full', hasImported: false });
  assert.deepEqual(wasOnDisk, [false]);
});

test('the number of folders that an earlier run has found stays until they are listed again', async (t) => {
  const port = await startScripted(t, () => undefined, { greeting: '* BYE later' });
  const { run } = await createImporter(world);
  const { counts } = await run(port, { found: { ...NO_COUNTS, folders: 5 } });
  assert.equal(counts.folders, 5);
});

test('keywords that the mailbox has no room for are an error of their folder', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.deliver('INBOX', letter('one'), { flags: ['todo'] });
  const { run, target } = await createImporter(world);
  target.add = async () => ({ added: 1, withoutKeywords: 1 });
  const { end, errors, counts } = await run(port);
  assert.deepEqual([end.kind, counts.imported, counts.failed], ['completed', 1, 0]);
  assert.deepEqual(
    errors.map(({ folder, uid }) => [folder, uid]),
    [['INBOX', 0]],
  );
});

test('one large message is on the disk at a time', async (t) => {
  const { port, mail } = await startSource(t);
  for (const text of ['x', 'y', 'z']) await mail.deliver('INBOX', letter(text.repeat(1_100_000)));
  const { run, spoolFolder, target } = await createImporter(world);
  const { add } = target;
  const files: number[] = [];
  target.add = (input) => {
    const found = readdirSync(spoolFolder, { recursive: true, withFileTypes: true });
    files.push(found.filter((entry) => entry.isFile()).length);
    return add(input);
  };
  assert.equal((await run(port)).counts.imported, 3);
  assert.deepEqual(files, [1, 1, 1]);
});

test('a certificate for another name ends the import before the login', async (t) => {
  const commands: string[] = [];
  const port = await startScripted(t, (command) => {
    commands.push(command);
    return undefined;
  });
  const { run } = await createImporter(world, { dns: zoneDns('other.example A 127.0.0.1') });
  const { end } = await run(port, { host: 'other.example' });
  assert.equal(end.kind === 'failed' && end.reason, 'source_refused', JSON.stringify(end));
  assert.match(end.kind === 'failed' ? end.error : '', /^The certificate of other.example is not valid/);
  assert.deepEqual(commands, []);
});

test('an import that is deleted ends its run', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.deliver('INBOX', letter('one'));
  const { run, target } = await createImporter(world);
  target.advance = async () => false;
  assert.deepEqual((await run(port)).end, { kind: 'stale' });
});

test('an import into a mailbox that is deleted meanwhile ends', async (t) => {
  const { port, mail } = await startSource(t);
  await mail.deliver('INBOX', letter('one'));
  const { run, target, mailbox } = await createImporter(world);
  const { listTargets } = target;
  target.listTargets = async (input) => {
    await world.app.db.commit(endMailbox, { tenantId: world.tenantId, id: mailbox.id, now: 0 });
    return listTargets(input);
  };
  assert.deepEqual((await run(port)).end, { kind: 'stale' });
});
