import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { type CsvRecord, MAX_RECORD_BYTES, readRecords } from '../../src/imports/records.ts';
import { csvLine } from '../../src/imports/write-csv.ts';
import { HOSTILE, PIECE_BYTES } from './hostile-files.ts';
import type { HostileReading } from './hostile-files-thread.ts';

type Found = { records: CsvRecord[]; error: string | undefined };

function* cut(bytes: Buffer, pieceBytes = PIECE_BYTES): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function read(file: Buffer | string | Iterable<Buffer>, pieceBytes = PIECE_BYTES): Promise<Found> {
  const pieces =
    typeof file === 'string' || Buffer.isBuffer(file) ? cut(Buffer.from(file), pieceBytes) : file;
  const records: CsvRecord[] = [];
  let error: string | undefined;
  for await (const piece of readRecords(pieces)) {
    records.push(...piece.records);
    error = piece.fault?.message;
  }
  return { records, error };
}

const cellsOf = ({ records }: Found) => records.map(({ cells }) => cells);

test('the line for the separator is no record, but a line, wherever the file is cut', async () => {
  for (const lineEnd of ['\r\n', '\n', '\r']) {
    const file = ['sep=;', 'e;f', 'a,b;1', ''].join(lineEnd);
    for (const pieceBytes of [1, 2, 6, 7, 100]) {
      assert.deepEqual(await read(file, pieceBytes), {
        records: [
          { line: 2, cells: ['e', 'f'] },
          { line: 3, cells: ['a,b', '1'] },
        ],
        error: undefined,
      });
    }
  }
});

test('quotes, doubled quotes, and line breaks within quotes are read as RFC 4180 has them', async () => {
  const found = await read('email,note\r\n"a@b.example","say ""hi"",\r\nplease"\r\n');
  assert.deepEqual(cellsOf(found), [
    ['email', 'note'],
    ['a@b.example', 'say "hi",\r\nplease'],
  ]);
});

test('CRLF, LF and CR end a record, also mixed, and the last one may lack them', async () => {
  const found = await read('e,f\r\na,1\nb,2\rc,3');
  assert.deepEqual(cellsOf(found), [
    ['e', 'f'],
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
  ]);
});

test('an import file is read about a thousand records at a time, however short they are', async () => {
  for (const line of ['x\n', 'x\r', 'x,y\r\n']) {
    for await (const { records } of readRecords([Buffer.from(`a,b\n${line.repeat(20_000)}`)])) {
      assert.ok(records.length <= 1_025, `${records.length}`);
    }
  }
});

test('each record is known by the line it begins in', async () => {
  const found = await read('\r\ne,f\r\n\r\n\r\n"a\r\nb\nc\rd",1\r\n , \nz,9\n\n"y","\n"\nx,8\n');
  assert.deepEqual(
    found.records.map(({ line, cells }) => [line, cells[0]]),
    [
      [2, 'e'],
      [5, 'a\r\nb\nc\rd'],
      [10, 'z'],
      [12, 'y'],
      [14, 'x'],
    ],
  );
});

test('the reader returns what the writer wrote, however the input is cut', async () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', '"', ',', ';', '\r', '\n', '\t', ' ', "'", 'ß', '😀'),
  });
  const row = fc.tuple(fc.constant('x'), cell, cell);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1 }), fc.integer({ min: 1, max: 9 }), async (rows, size) => {
      const given = [['a', 'b', 'c'], ...rows];
      const found = await read(given.map(csvLine).join(''), size);
      assert.deepEqual(found, { records: found.records, error: undefined });
      assert.deepEqual(cellsOf(found), given);
    }),
  );
});

test('a fault comes after the records before it, and names its line', async () => {
  for (const [file, words] of [
    ['e,f\na,1\n"b"x,2\nc,3\n', /^Line 3: text follows a closing quote/],
    ['e,f\na,1\nb "x",2\nc,3\n', /^Line 3: a quote stands within a cell/],
    ['e,f\na,1\n\n"b,2\nc,3\n', /^Line 4: the file ends in a quoted cell/],
  ] as const) {
    const { records, error } = await read(file);
    assert.deepEqual(cellsOf({ records, error }), [
      ['e', 'f'],
      ['a', '1'],
    ]);
    assert.match(error ?? '', words);
  }
});

test('a record of the greatest length is read, and one longer is not', async () => {
  const longest = `a,${'x'.repeat(MAX_RECORD_BYTES - 3)}\n`;
  assert.equal((await read(`e,f\n${longest}b,1\n`)).records.length, 3);
  const { records, error } = await read(`e,f\n${longest.replace('x', 'xx')}b,1\n`);
  assert.equal(records.length, 1);
  assert.match(error ?? '', /^Line 2: a record is longer than 64 KiB/);
});

/** Reads a file in a thread of its own. */
async function readInThread(name: string): Promise<HostileReading> {
  const thread = new Worker(new URL('./hostile-files-thread.ts', import.meta.url));
  const reading = new Promise<HostileReading>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread has ended')));
  });
  thread.postMessage(name);
  try {
    return await reading;
  } finally {
    await thread.terminate();
  }
}

for (const name of Object.keys(HOSTILE)) {
  test(`${name} is refused, and little of it is held`, async () => {
    const { error, takenBytes, grownBytes } = await readInThread(name);
    assert.match(error ?? '', /a record is longer than 64 KiB/);
    assert.ok(takenBytes <= MAX_RECORD_BYTES + 2 * PIECE_BYTES, `${takenBytes} bytes of the file were read`);
    assert.ok(grownBytes < 16 * 1024 * 1024, `${grownBytes} bytes are held`);
  });
}

test('millions of empty lines are no record, and no fault', async () => {
  const found = await read(
    Buffer.concat([Buffer.from('e\n'), Buffer.alloc(1_000_000, '\n'), Buffer.from('z')]),
  );
  assert.deepEqual(found, {
    records: [
      { line: 1, cells: ['e'] },
      { line: 1_000_002, cells: ['z'] },
    ],
    error: undefined,
  });
});

test('the event loop runs other tasks while a file is read', async () => {
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns++;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  await read(`e\n${'a@b.example\n'.repeat(100_000)}`);
  isReading = false;
  assert.ok(turns >= 30, `${turns} turns`);
});
