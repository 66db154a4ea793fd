/** Runs of imports from servers that lie, send without end, or say nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { createImporter, HOST, type Script, startScripted } from './fixture.ts';

const clock = createFakeClock(Date.UTC(2026, 0, 1));
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const OPENED = '* 1 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\nTAG OK [READ-ONLY] done\r\n';

/** Returns a script of a server with one message. `fetch` answers each FETCH. */
const serving =
  (fetch: Script): Script =>
  (command, socket) => {
    if (command.startsWith('EXAMINE')) return OPENED;
    if (command.startsWith('UID SEARCH')) return '* SEARCH 1\r\nTAG OK done\r\n';
    return command.startsWith('UID FETCH') ? fetch(command, socket) : undefined;
  };

/** A small message, of which servers say that it has 10 octets. */
const TEXT = 'Subject: a\r\n\r\na\r\n';

/** Answers a FETCH with what it asks for of these messages: the text of each, or its flags and its size. */
function fetched(command: string, uids: readonly number[]): string {
  const item = command.includes('BODY') ? `BODY[] {${TEXT.length}}\r\n${TEXT}` : 'FLAGS () RFC822.SIZE 10';
  return [...uids.map((uid) => `* ${uid} FETCH (UID ${uid} ${item})\r\n`), 'TAG OK done\r\n'].join('');
}

/** Resolves when more can be written, or nobody reads any more. */
async function drained(socket: Socket): Promise<void> {
  const ended = new AbortController();
  const { signal } = ended;
  await Promise.race(['drain', 'close'].map((name) => once(socket, name, { signal }))).catch(() => {});
  ended.abort();
}

test('a list of a million folders ends the session', async (t) => {
  const port = await startScripted(t, async (command, socket) => {
    if (!/^LIST "" "?\*/.test(command)) return undefined;
    const names = Array.from(
      { length: 1_000 },
      (_, index) => `* LIST () "/" ${'folder'.repeat(20)}${index}\r\n`,
    ).join('');
    for (let sent = 0; sent < 1_000 && !socket.destroyed; sent++)
      if (!socket.write(names)) await drained(socket);
    return 'TAG OK done\r\n';
  });
  const { run } = await createImporter(world);
  const { end } = await run(port);
  assert.match(end.kind === 'interrupted' ? end.error : end.kind, /sends more than it was asked for/);
});

test('a few octets that mean millions of messages cost nothing', { timeout: 20_000 }, async (t) => {
  const range = '1:16777215';
  const answers: Record<string, string> = {
    search: `* 16777215 EXISTS\r\n* ESEARCH (TAG "x") UID ALL ${range}\r\nTAG OK done\r\n`,
    open: OPENED.replace('1 EXISTS', '16777215 EXISTS'),
    vanished: `${`* VANISHED ${range}\r\n`.repeat(20)}* SEARCH\r\nTAG OK done\r\n`,
  };
  const ends = new Map<string, string>();
  for (const [name, answer] of Object.entries(answers)) {
    const port = await startScripted(t, (command) => {
      if (command.startsWith('EXAMINE')) return name === 'open' ? answer : OPENED;
      return command.startsWith('UID SEARCH') ? answer : undefined;
    });
    const { run } = await createImporter(world);
    const { end, errors } = await run(port);
    ends.set(name, end.kind === 'interrupted' ? end.error : `${end.kind} ${errors[0]?.message ?? ''}`);
  }
  assert.deepEqual(Object.fromEntries(ends), {
    search: `${HOST} tells of too many messages`,
    open: 'completed The folder has more than 800000 messages',
    vanished: 'completed ',
  });
});

test('at most 10,000 folders are imported, and an error names the first of the others', async (t) => {
  const names = Array.from({ length: 10_002 }, (_, index) => `* LIST () "/" ${10_000 + index}\r\n`);
  const port = await startScripted(t, (command) => {
    if (/^LIST "" "?\*/.test(command)) return `${names.join('')}TAG OK done\r\n`;
    return command.startsWith('EXAMINE') ? 'TAG NO [UNAVAILABLE] later\r\n' : undefined;
  });
  const { run } = await createImporter(world);
  const { counts, errors } = await run(port);
  assert.equal(counts.folders, 10_000);
  assert.deepEqual(
    errors.map(({ folder, uid }) => ({ folder, uid })),
    [{ folder: '20000', uid: 0 }],
  );
});

test('a literal without end ends the session, and the message is an error', async (t) => {
  const port = await startScripted(
    t,
    serving((command, socket) => {
      if (!command.includes('BODY')) return '* 1 FETCH (UID 1 FLAGS () RFC822.SIZE 10)\r\nTAG OK done\r\n';
      socket.write('* 1 FETCH (UID 1 BODY[] {99999999999}\r\n');
      return undefined;
    }),
  );
  const { run } = await createImporter(world);
  const { errors } = await run(port);
  assert.match(errors[0]?.message ?? '', /Literal size/);
});

test('a line without end ends the session', async (t) => {
  const port = await startScripted(t, async (command, socket) => {
    if (!command.startsWith('EXAMINE')) return undefined;
    while (!socket.destroyed) if (!socket.write('a'.repeat(16_384))) await drained(socket);
    return undefined;
  });
  const { run } = await createImporter(world);
  const { end } = await run(port);
  assert.match(end.kind === 'interrupted' ? end.error : end.kind, /sends more than it was asked for/);
});

test('a response that comes octet by octet ends the session', async (t) => {
  const port = await startScripted(t, async (command, socket) => {
    if (!command.startsWith('LOGIN')) return undefined;
    const write = promisify<string, void>((octet, done) => void socket.write(octet, () => done(null)));
    for (const octet of `* OK ${'a'.repeat(5_000)}`) if (!socket.destroyed) await write(octet);
    return '\r\nTAG OK done\r\n';
  });
  const { run } = await createImporter(world);
  const { end } = await run(port);
  assert.match(end.kind === 'interrupted' ? end.error : end.kind, /sends more than it was asked for/);
});

test('a response of very many words ends the session', async (t) => {
  const port = await startScripted(t, (command) =>
    command.startsWith('EXAMINE') ? `* FLAGS (${'a '.repeat(20_000)}a)\r\n${OPENED}` : undefined,
  );
  const { run } = await createImporter(world);
  const { end } = await run(port);
  assert.match(end.kind === 'interrupted' ? end.error : end.kind, /tokens/i);
});

test('a piece of a large message that is larger than what was asked for is not imported', async (t) => {
  const size = 1024 * 1024;
  const port = await startScripted(
    t,
    serving((command) => {
      if (!command.includes('BODY'))
        return `* 1 FETCH (UID 1 FLAGS () RFC822.SIZE ${2 * size})\r\nTAG OK done\r\n`;
      return `* 1 FETCH (UID 1 BODY[]<0> {${size + 1}}\r\n${'x'.repeat(size + 1)})\r\nTAG OK done\r\n`;
    }),
  );
  const { run } = await createImporter(world);
  const { errors, counts } = await run(port);
  assert.match(errors[0]?.message ?? '', /sends more than it was asked for/);
  assert.equal(counts.imported, 0);
});

test('a large message that is expunged while it is read is an error, and no part of it is imported', async (t) => {
  const size = 1024 * 1024;
  for (const rest of ['* 1 EXPUNGE\r\n', '* 1 FETCH (UID 1 BODY[]<1048576> NIL)\r\n']) {
    const port = await startScripted(
      t,
      serving((command) => {
        if (!command.includes('BODY'))
          return `* 1 FETCH (UID 1 FLAGS () RFC822.SIZE ${3 * size})\r\nTAG OK done\r\n`;
        const isFirst = command.includes('<0.');
        const first = `* 1 FETCH (UID 1 BODY[]<0> {${size}}\r\n${'x'.repeat(size)})\r\n`;
        return `${isFirst ? first : rest}TAG OK done\r\n`;
      }),
    );
    const { run } = await createImporter(world);
    const { end, counts, errors } = await run(port);
    assert.deepEqual(end, { kind: 'completed' });
    assert.equal(counts.imported, 0, rest);
    assert.match(errors[0]?.message ?? '', /only a part/);
  }
});

test('a server that does not answer for a minute interrupts the import', async (t) => {
  const asked = Promise.withResolvers<void>();
  const port = await startScripted(t, (command) => {
    if (!command.startsWith('EXAMINE')) return undefined;
    asked.resolve();
    return '';
  });
  const { run } = await createImporter(world);
  const running = run(port);
  await asked.promise;
  await clock.advance(60_000);
  const { end } = await running;
  assert.match(end.kind === 'interrupted' ? end.error : end.kind, /did not answer in time/);
});

test('a message that the server cannot give is an error, and the others are imported', async (t) => {
  const text = 'Subject: a\r\n\r\na\r\n';
  const port = await startScripted(t, (command) => {
    if (command.startsWith('EXAMINE')) return OPENED.replace('* 1 EXISTS', '* 2 EXISTS');
    if (command.startsWith('UID SEARCH')) return '* SEARCH 1 2\r\nTAG OK done\r\n';
    if (!command.startsWith('UID FETCH')) return undefined;
    const describe = (uid: number) => `* ${uid} FETCH (UID ${uid} FLAGS () RFC822.SIZE ${text.length})\r\n`;
    if (!command.includes('BODY')) return `${describe(1)}${describe(2)}TAG OK done\r\n`;
    if (!command.startsWith('UID FETCH 1 ')) return 'TAG NO [SERVERBUG] damaged\r\n';
    return `* 1 FETCH (UID 1 BODY[] {${text.length}}\r\n${text})\r\nTAG OK done\r\n`;
  });
  const { run } = await createImporter(world);
  const { end, errors, counts } = await run(port);
  assert.deepEqual(end, { kind: 'completed' });
  assert.deepEqual([counts.imported, counts.failed], [1, 1]);
  assert.equal(errors[0]?.uid, 2);
});

test('messages of a refused batch are stored one by one, whatever their sizes are', async (t) => {
  const uids = [1, 2, 3, 4];
  const text = `Subject: a\r\n\r\n${'x'.repeat(2 * 1024 * 1024)}`;
  const port = await startScripted(t, (command) => {
    if (command.startsWith('EXAMINE')) return OPENED.replace('* 1 EXISTS', `* ${uids.length} EXISTS`);
    if (command.startsWith('UID SEARCH')) return `* SEARCH ${uids.join(' ')}\r\nTAG OK done\r\n`;
    const [, uid] = /^UID FETCH (\S+) /.exec(command) ?? [];
    if (uid === undefined) return undefined;
    if (!command.includes('BODY'))
      return `${uids.map((each) => `* ${each} FETCH (UID ${each} FLAGS () RFC822.SIZE 1)\r\n`).join('')}TAG OK done\r\n`;
    if (uid.includes(':')) return 'TAG NO damaged\r\n';
    return `* ${uid} FETCH (UID ${uid} BODY[] {${text.length}}\r\n${text})\r\nTAG OK done\r\n`;
  });
  const { run, contents } = await createImporter(world);
  const { end, counts } = await run(port);
  assert.deepEqual([end.kind, counts.imported], ['completed', uids.length]);
  assert.deepEqual(contents.groups, [1, 1, 1, 1]);
});

/** Serves messages, and ends the session when `isFatal` says so of the UIDs that are asked for. */
function ending(
  count: number,
  isFatal: (uids: number[]) => boolean,
): { script: Script; logins: () => number } {
  let logins = 0;
  const script: Script = (command, socket) => {
    if (command.startsWith('LOGIN')) logins += 1;
    if (command.startsWith('EXAMINE')) return OPENED.replace('* 1 EXISTS', `* ${count} EXISTS`);
    const all = Array.from({ length: count }, (_, index) => index + 1);
    if (command.startsWith('UID SEARCH')) return `* SEARCH ${all.join(' ')}\r\nTAG OK done\r\n`;
    const [, first, last = first] = /^UID FETCH (\d+)(?::(\d+))? /.exec(command) ?? [];
    if (first === undefined) return undefined;
    const uids = all.slice(Number(first) - 1, Number(last));
    if (!command.includes('BODY') || !isFatal(uids)) return fetched(command, uids);
    socket.destroy();
    return '';
  };
  return { script, logins: () => logins };
}

test('a message with which the server ends the session is an error, and the others are imported', async (t) => {
  const { script, logins } = ending(4, (uids) => uids.includes(2));
  const { run } = await createImporter(world);
  const { end, errors, counts } = await run(await startScripted(t, script));
  assert.deepEqual(end, { kind: 'completed' });
  assert.deepEqual([counts.messages, counts.imported, counts.failed], [4, 3, 1]);
  assert.deepEqual(
    errors.map(({ uid }) => uid),
    [2],
  );
  assert.equal(logins(), 3);
});

test('a session that is lost once loses no message', async (t) => {
  let isLost = false;
  const { script } = ending(1, () => {
    const isFatal = !isLost;
    isLost = true;
    return isFatal;
  });
  const { run } = await createImporter(world);
  const { end, errors, counts } = await run(await startScripted(t, script));
  assert.deepEqual([end, errors, counts.imported], [{ kind: 'completed' }, [], 1]);
});

test('a server that always ends the session is asked at most 51 times in a run', async (t) => {
  const { script, logins } = ending(60, () => true);
  const { run } = await createImporter(world);
  const { end } = await run(await startScripted(t, script));
  assert.equal(end.kind, 'interrupted');
  assert.equal(logins(), 51);
});

/** Serves messages, and answers each FETCH as `answer` says: with the messages that are asked for, or with others. */
function listing(count: number, answer: (command: string, asked: number[]) => string): Script {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return (command) => {
    if (command.startsWith('EXAMINE')) return OPENED.replace('* 1 EXISTS', `* ${count} EXISTS`);
    if (command.startsWith('UID SEARCH')) return `* SEARCH ${all.join(' ')}\r\nTAG OK done\r\n`;
    const [, set] = /^UID FETCH (\S+) /.exec(command) ?? [];
    if (set === undefined) return undefined;
    const ranges = set.split(',').map((range) => range.split(':').map(Number));
    return answer(
      command,
      all.filter((uid) => ranges.some(([first = 0, last = first]) => uid >= first && uid <= last)),
    );
  };
}

const isContent = (command: string) => command.includes('BODY');

/** Behaviours of servers with the messages that they list, and the number of 20 messages that is imported then. */
const LISTED: Record<string, { script: Script; imported: number; failed: number[] }> = {
  'describes the first half alone': {
    script: listing(20, (command, uids) =>
      fetched(
        command,
        uids.filter((uid) => uid <= 10),
      ),
    ),
    imported: 10,
    failed: [11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
  },
  'describes nothing': {
    script: listing(20, (command, uids) => fetched(command, isContent(command) ? uids : [])),
    imported: 0,
    failed: Array.from({ length: 20 }, (_, index) => index + 1),
  },
  'answers with three messages at a time': {
    script: listing(20, (command, uids) => fetched(command, uids.slice(0, 3))),
    imported: 20,
    failed: [],
  },
  'gives the contents of others': {
    script: listing(20, (command, uids) =>
      fetched(command, isContent(command) ? uids.map((uid) => uid + 20) : uids),
    ),
    imported: 0,
    failed: Array.from({ length: 20 }, (_, index) => index + 1),
  },
  'repeats a message instead of another': {
    script: listing(20, (command, uids) =>
      fetched(
        command,
        uids.map((uid) => (uid === 7 ? 8 : uid)),
      ),
    ),
    imported: 19,
    failed: [7],
  },
  'answers without content': {
    script: listing(20, (command, uids) =>
      isContent(command)
        ? fetched(command, uids).replace(
            /^\* 5 FETCH [^{]*\{\d+\}\r\n[^)]*\)/m,
            '* 5 FETCH (UID 5 BODY[] NIL)',
          )
        : fetched(command, uids),
    ),
    imported: 19,
    failed: [5],
  },
  'answers with an empty content': {
    script: listing(20, (command, uids) =>
      isContent(command)
        ? fetched(command, uids).replace(
            /^\* 5 FETCH [^{]*\{\d+\}\r\n[^)]*\)/m,
            '* 5 FETCH (UID 5 BODY[] "")',
          )
        : fetched(command, uids),
    ),
    imported: 19,
    failed: [5],
  },
  'has a message expunged before its content is read': {
    script: listing(20, (command, uids) =>
      isContent(command)
        ? `* 20 EXPUNGE\r\n${fetched(
            command,
            uids.filter((uid) => uid !== 20),
          )}`
        : fetched(command, uids),
    ),
    imported: 19,
    failed: [20],
  },
};

for (const [what, { script, imported, failed }] of Object.entries(LISTED))
  test(`each message that is listed is imported, known or an error when a server ${what}`, async (t) => {
    const port = await startScripted(t, script);
    const { run } = await createImporter(world);
    const first = await run(port);
    assert.deepEqual(first.end, { kind: 'completed' });
    const { counts, errors } = first;
    assert.deepEqual(
      [counts.messages, counts.imported, counts.known, counts.failed],
      [20, imported, 0, failed.length],
    );
    assert.deepEqual(
      errors.map(({ uid }) => uid).sort((one, other) => one - other),
      failed,
    );
    assert.ok(errors.every(({ message }) => message.startsWith('The server does not give the message')));
    const again = await run(port);
    assert.deepEqual(
      [again.counts.messages, again.counts.imported, again.counts.known, again.counts.failed],
      [20, 0, imported, failed.length],
    );
  });

test('when a folder that is being read is gone after another login, its other messages count as failed', async (t) => {
  let isGone = false;
  const serve = listing(4, (command, uids) => fetched(command, uids));
  const port = await startScripted(t, (command, socket) => {
    if (isGone && command.startsWith('EXAMINE')) return 'TAG NO [NONEXISTENT] gone\r\n';
    if (!isContent(command)) return serve(command, socket);
    isGone = true;
    socket.destroy();
    return '';
  });
  const { run } = await createImporter(world);
  const { end, counts, errors } = await run(port);
  assert.deepEqual(end, { kind: 'completed' });
  assert.deepEqual([counts.messages, counts.imported, counts.known, counts.failed], [4, 0, 0, 4]);
  assert.deepEqual(
    errors.map(({ uid }) => uid),
    [0],
  );
});

test('messages that nobody asked for are not imported', async (t) => {
  const port = await startScripted(
    t,
    serving((command) => fetched(command, [1, 2, 3])),
  );
  const { run, contents } = await createImporter(world);
  const { counts } = await run(port);
  assert.equal(counts.imported, 1);
  assert.equal(contents.folders.get('INBOX')?.length, 1);
});

test('messages with labels are imported once, with their other labels as keywords', async (t) => {
  const text = (id: number) => `Subject: ${id}\r\n\r\n`;
  /** Ids of the messages of each folder, by UID. */
  const folders: Record<string, number[]> = { INBOX: [101], Work: [101, 102], All: [101, 102, 103] };
  let open: number[] = [];
  const port = await startScripted(t, (command) => {
    if (command === 'CAPABILITY') return '* CAPABILITY IMAP4rev1 SPECIAL-USE X-GM-EXT-1\r\nTAG OK done\r\n';
    if (/^LIST "" "?\*/.test(command))
      return '* LIST () "/" INBOX\r\n* LIST () "/" Work\r\n* LIST (\\All) "/" All\r\nTAG OK done\r\n';
    const [, name = ''] = /^EXAMINE "?(\w+)/.exec(command) ?? [];
    if (name !== '') {
      open = folders[name] ?? [];
      return OPENED.replace('* 1 EXISTS', `* ${open.length} EXISTS`);
    }
    if (command.startsWith('UID SEARCH'))
      return `* SEARCH ${open.map((_, index) => index + 1).join(' ')}\r\nTAG OK done\r\n`;
    if (!command.startsWith('UID FETCH')) return undefined;
    return open
      .map((id, index) => {
        const item = command.includes('BODY')
          ? `BODY[] {${text(id).length}}\r\n${text(id)}`
          : `FLAGS () RFC822.SIZE 10 X-GM-LABELS (\\Inbox "Two Words")`;
        return `* ${index + 1} FETCH (UID ${index + 1} X-GM-MSGID ${id} ${item})\r\n`;
      })
      .join('')
      .concat('TAG OK done\r\n');
  });
  const { run, contents } = await createImporter(world);
  const { end, counts, errors } = await run(port);
  assert.deepEqual(errors, []);
  assert.deepEqual(end, { kind: 'completed' });
  assert.deepEqual([counts.messages, counts.imported, counts.known], [6, 3, 3]);
  const sizes = ['INBOX', 'Work', 'Archive'].map((name) => contents.folders.get(name)?.length);
  assert.deepEqual(sizes, [1, 1, 1]);
  assert.deepEqual(contents.folders.get('INBOX')?.[0]?.flags, ['Two_Words']);
});

test('a server that has no time now is tried again later', async (t) => {
  for (const refusal of ['[THROTTLED] slow down', '[UNAVAILABLE] later']) {
    const port = await startScripted(t, (command) =>
      command.startsWith('EXAMINE') ? `TAG NO ${refusal}\r\n` : undefined,
    );
    const { run } = await createImporter(world);
    const { end } = await run(port);
    assert.equal(end.kind, 'interrupted', refusal);
  }
});

test('a login that the server cannot check now is tried again later', async (t) => {
  const port = await startScripted(t, (command) =>
    command.startsWith('LOGIN') ? 'TAG NO [UNAVAILABLE] try later\r\n' : undefined,
  );
  const { run } = await createImporter(world);
  const { end } = await run(port);
  assert.equal(end.kind, 'interrupted', JSON.stringify(end));
});

test('a run that is over ends before the next batch, and a later one goes on', async (t) => {
  const port = await startScripted(
    t,
    serving((command) => fetched(command, [1])),
  );
  const { run, target } = await createImporter(world);
  const { findMissing } = target;
  target.findMissing = async (input) => {
    await clock.advance(600_000);
    return findMissing(input);
  };
  const first = await run(port);
  assert.deepEqual([first.end.kind, first.counts.imported], ['paused', 0]);
  target.findMissing = findMissing;
  const second = await run(port);
  assert.deepEqual([second.end.kind, second.counts.imported], ['completed', 1]);
});

test('messages that an earlier run has imported, and that the server has removed since, are messages of the import', async (t) => {
  let left = 20;
  const port = await startScripted(t, (command, socket) =>
    listing(left, (asked, uids) => fetched(asked, uids))(command, socket),
  );
  const { run } = await createImporter(world);
  const { counts: found } = await run(port);
  left = 5;
  const { counts } = await run(port, { found });
  assert.deepEqual([counts.messages, counts.imported, counts.known, counts.failed], [20, 20, 0, 0]);
});

test('a run also ends while messages are fetched one by one, and a later one goes on', async (t) => {
  let isSlow = true;
  let alone = 0;
  const port = await startScripted(t, async (command) => {
    if (command.startsWith('EXAMINE')) return OPENED.replace('* 1 EXISTS', '* 3 EXISTS');
    if (command.startsWith('UID SEARCH')) return '* SEARCH 1 2 3\r\nTAG OK done\r\n';
    const [, first = '', last = first] = /^UID FETCH (\d+)(?::(\d+))? /.exec(command) ?? [];
    if (first === '') return undefined;
    const hasBody = command.includes('BODY');
    if (hasBody && first !== last) return 'TAG NO one of them is damaged\r\n';
    if (hasBody) {
      alone += 1;
      if (isSlow) await clock.advance(170_000);
    }
    return fetched(command, [1, 2, 3].slice(Number(first) - 1, Number(last)));
  });
  const { run, target } = await createImporter(world);
  const { findMissing } = target;
  target.findMissing = async (input) => {
    await clock.advance(500_000);
    return findMissing(input);
  };
  const first = await run(port);
  assert.deepEqual([first.end.kind, first.counts.imported, alone], ['paused', 1, 1]);
  target.findMissing = findMissing;
  isSlow = false;
  const second = await run(port);
  assert.deepEqual([second.end.kind, second.counts.imported, second.counts.known], ['completed', 2, 1]);
});
