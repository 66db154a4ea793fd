import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Chain } from '../../../src/standby/chain/chain.ts';
import type { ChainRecord } from '../../../src/standby/chain/records.ts';
import { keyOf, PRINT_BYTES, Shipped } from '../../../src/standby/chain/shipped.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const GENERATION = '20270101T000000Z-00000000';
const SHA256 = 'ab'.repeat(32);
const IDENTITY = { installation: 'inst', recipients: ['age1a'] };
const print = (number: number): Buffer => Buffer.alloc(PRINT_BYTES, number);

function open(folder: string, { identity = IDENTITY, maxLogBytes = 1_000_000 } = {}): Chain {
  return new Chain(folder, () => identity, maxLogBytes);
}

/** Returns a record with one page of the main database, whose fingerprint is the number of the record. */
function recordOf(number: number, more: Partial<ChainRecord> = {}): ChainRecord {
  return {
    ...{ number, takenAt: number, cuts: [{ generation: GENERATION, sequence: number, sha256: SHA256 }] },
    databases: [
      {
        ...{ path: 'postrider.db', pageBytes: 4_096, databasePages: 3 },
        ...{ numbers: Uint32Array.of(2), prints: print(number) },
      },
    ],
    ...{ files: [], gone: [], ...more },
  };
}

/** Begins a chain with a scan of three pages, before which one record was shipped. */
function begin(folder: string, options = {}): Chain {
  const chain = open(folder, options);
  chain.reset();
  chain.append(recordOf(1), false);
  const scanned = new Shipped();
  const prints = Buffer.concat([print(101), print(102), print(103)]);
  scanned.databases.set('postrider.db', { pageBytes: 4_096, note: 'note', prints });
  scanned.databases.set('mailboxes/mbx_1/index.db', { pageBytes: 4_096, note: 'note', prints });
  scanned.files.set('blobs/ab', keyOf(SHA256));
  chain.keepScan(scanned, 0);
  return chain;
}

function printsOf(chain: Chain): number[] | undefined {
  const prints = chain.load()?.databases.get('postrider.db')?.prints;
  return prints && [...prints].filter((_, at) => at % PRINT_BYTES === 0);
}

test('what was scanned counts from the first cut after the scan on, with all that was shipped meanwhile', () => {
  const folder = temporaryDirectory('chain');
  const chain = begin(folder);
  chain.append(recordOf(2), false);
  for (const one of [chain, open(folder)]) assert.deepEqual([one.isKnown, one.load()], [false, undefined]);
  chain.append(recordOf(3), true);
  for (const one of [chain, open(folder)]) {
    assert.deepEqual([one.isKnown, one.last?.number, one.last?.cuts], [true, 3, recordOf(3).cuts]);
    assert.deepEqual(printsOf(one), [101, 3, 103]);
    const { databases, files } = one.load() as Shipped;
    assert.deepEqual(
      [...databases.values()].map(({ note }) => note),
      ['', 'note'],
    );
    assert.equal(files.get('blobs/ab'), keyOf(SHA256));
  }
});

test('pages behind the end are forgotten, and files that had disappeared too', () => {
  const chain = begin(temporaryDirectory('chain'));
  const [{ path = '', ...pages } = {}] = recordOf(2).databases;
  const resized = (databasePages: number) => [
    { ...pages, path, pageBytes: 4_096, databasePages, numbers: Uint32Array.of(), prints: Buffer.alloc(0) },
  ];
  chain.append(recordOf(2, { databases: resized(1), gone: [`blobs/ab/${SHA256}`] }), true);
  assert.deepEqual(printsOf(chain), [101]);
  assert.equal(chain.load()?.files.get('blobs/ab'), '');
  chain.append(recordOf(3, { databases: resized(3), files: ['master.key', `blobs/ab/${SHA256}`] }), false);
  assert.deepEqual(printsOf(chain), [101, 0, 0]);
  assert.equal(chain.load()?.files.get('blobs/ab'), keyOf(SHA256));
});

test('the fingerprints of a database are not copied for each cut, and pages behind the end never come back', () => {
  const shipped = new Shipped();
  const apply = (databasePages: number, number: number) => {
    const pages = { path: 'postrider.db', pageBytes: 4_096, databasePages };
    const changed = { ...pages, numbers: Uint32Array.of(number), prints: print(number) };
    shipped.apply({ databases: [changed], files: [], gone: [] });
    const prints = shipped.databases.get('postrider.db')?.prints ?? Buffer.alloc(0);
    return { memory: prints.buffer, numbers: [...prints].filter((_, at) => at % PRINT_BYTES === 0) };
  };
  const { memory } = apply(16, 16);
  assert.equal(apply(17, 3).memory, memory);
  assert.deepEqual(apply(3, 1), { memory, numbers: [1, 0, 3] });
  assert.deepEqual(apply(17, 2), { memory, numbers: [1, 2, 3, ...Array(14).fill(0)] });
  const larger = apply(1_000, 1_000);
  assert.deepEqual([larger.numbers.slice(0, 4), larger.numbers.at(-1)], [[1, 2, 3, 0], 1_000 % 256]);
});

test('half a record at the end was not durable, and the next one takes its place', () => {
  const folder = temporaryDirectory('chain');
  const log = join(folder, 'log');
  begin(folder).append(recordOf(2), true);
  const whole = statSync(log).size;
  open(folder).append(recordOf(3), false);
  for (const bytes of [1, 40, statSync(log).size - whole - 1]) {
    truncateSync(log, whole + bytes);
    const chain = open(folder);
    assert.deepEqual([chain.last?.number, printsOf(chain)], [2, [101, 2, 103]]);
    assert.equal(statSync(log).size, whole);
    chain.append(recordOf(3), false);
    assert.deepEqual(printsOf(open(folder)), [101, 3, 103]);
  }
  appendFileSync(log, Buffer.alloc(100_000, 7));
  assert.deepEqual(printsOf(open(folder)), [101, 3, 103]);
});

test('a chain for other recipients, of another installation, or that is damaged does not go on', () => {
  const folder = temporaryDirectory('chain');
  begin(folder).append(recordOf(2), true);
  assert.ok(open(folder).isKnown);
  assert.ok(!open(folder, { identity: { ...IDENTITY, recipients: ['age1b'] } }).isKnown);
  assert.ok(!open(folder, { identity: { ...IDENTITY, installation: 'other' } }).isKnown);
  const snapshot = readFileSync(join(folder, 'snapshot'));
  for (const damaged of [
    snapshot.subarray(0, -1),
    Buffer.alloc(0),
    Buffer.from(snapshot).fill(0, snapshot.length - 1),
  ]) {
    writeFileSync(join(folder, 'snapshot'), damaged);
    assert.equal(open(folder).load(), undefined);
  }
  // A snapshot of an earlier chain is not that of this one.
  const other = temporaryDirectory('chain');
  begin(other).append(recordOf(2), true);
  writeFileSync(join(other, 'snapshot'), snapshot);
  assert.equal(open(other).load(), undefined);
  const chain = open(folder);
  chain.reset();
  assert.deepEqual([chain.last, chain.isKnown], [undefined, false]);
});

test('a long log is folded into the snapshot, but not while a scan needs it', () => {
  const folder = temporaryDirectory('chain');
  const chain = begin(folder, { maxLogBytes: 1_000 });
  for (let number = 2; number <= 20; number++) chain.append(recordOf(number), false);
  assert.ok(statSync(join(folder, 'log')).size > 3_000);
  chain.append(recordOf(21), true);
  assert.ok(statSync(join(folder, 'log')).size < 1_000);
  assert.deepEqual(
    [printsOf(chain), printsOf(open(folder))],
    [
      [101, 21, 103],
      [101, 21, 103],
    ],
  );
  const later = new Shipped();
  chain.keepScan(later, 21);
  for (let number = 22; number <= 40; number++) chain.append(recordOf(number), false);
  assert.ok(statSync(join(folder, 'log')).size > 3_000);
  chain.dropScan();
  chain.append(recordOf(41), false);
  assert.ok(statSync(join(folder, 'log')).size < 1_000);
  assert.deepEqual(printsOf(open(folder)), [101, 41, 103]);
});

test('a log that nothing folds does not grow without end, and the chain stays unknown', () => {
  const folder = temporaryDirectory('chain');
  const chain = begin(folder, { maxLogBytes: 100 });
  for (let number = 2; number <= 30; number++) {
    chain.append(recordOf(number), false);
    assert.ok(statSync(join(folder, 'log')).size <= 2_000);
  }
  chain.append(recordOf(31), true);
  assert.deepEqual([chain.isKnown, chain.last?.number, open(folder).isKnown], [false, 31, false]);
  chain.reset();
  chain.append(recordOf(1), false);
  chain.keepScan(new Shipped(), 0);
  chain.append(recordOf(2), true);
  assert.ok(open(folder).isKnown);
});
