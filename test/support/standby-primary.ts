/**
 * A primary for tests of those who follow it: an application whose state is shipped when the test says so. The changed pages are found by
 * comparing the database with its state at the cut before.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { copyClosed } from '../../src/accounts/copy.ts';
import { createBackup } from '../../src/backups/create.ts';
import type { ChangedPages } from '../../src/db/changed-pages.ts';
import type { ObjectStore } from '../../src/objects/object-store.ts';
import type { Cut } from '../../src/standby/cut.ts';
import {
  type BaseList,
  baseCompleteObject,
  baseObject,
  type FirstCut,
  pieceSuffix,
  segmentObject,
} from '../../src/standby/names.ts';
import { type Segment, writeSegment } from '../../src/standby/segment/write.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { openTestApp, type TestApp } from './test-app.ts';

const PAGE_BYTES = 4_096;
/** Size of the pieces of a base, which are small so that there are several. */
const PIECE_BYTES = 100_000;

export type StandbyPrimary = AsyncDisposable & {
  opened: TestApp;
  identity: string;
  installation: string;
  /** The last cut. */
  readonly cut: Cut;
  /** Accepts an email to an address, whose attachment is a file of its own. Returns its id. */
  send(to: string): Promise<string>;
  /** Sends a base, and lists it as complete unless told otherwise. */
  sendBase(
    store: ObjectStore,
    generation: string,
    options?: { isComplete?: boolean; firstCut?: FirstCut },
  ): Promise<void>;
  /** Sends the changes since the last cut as the next segment, of the time `takenAt`. `more` has further databases. */
  sendSegment(store: ObjectStore, takenAt: number, more?: Segment['databases']): Promise<Cut>;
  /** Returns the bytes of the main database at the last cut. */
  databaseAtCut(): Buffer;
};

export async function openStandbyPrimary(): Promise<StandbyPrimary> {
  const opened = await openTestApp();
  const { app, dataDir } = opened;
  const identity = await generateX25519Identity();
  const recipients = [await identityToRecipient(identity)];
  const folder = temporaryDirectory('primary');
  const installation = app.db.installation.id;
  let copies = 0;
  let database: Buffer = Buffer.alloc(0);
  let sentFiles = new Set<string>();
  let cut: Cut = { format: 1, installation, generation: '', sequence: 0, takenAt: 0, previous: null };
  let lastSha256: string | null = null;

  async function copyDatabase(): Promise<Buffer> {
    const file = join(folder, `copy-${copies++}.db`);
    await app.db.copyTo(file);
    return readFileSync(file);
  }

  return {
    opened,
    identity,
    installation,
    get cut() {
      return cut;
    },
    databaseAtCut: () => database,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    async send(to) {
      const { status, body } = await opened.request('POST', '/v1/emails', {
        body: {
          from: 'hello@sandbox.mx.postrider.example',
          to: [to],
          subject: 'Hello',
          text: 'Hello',
          type: 'transactional',
          attachments: [{ filename: 'a.bin', content: Buffer.alloc(600_000, to).toString('base64') }],
        },
      });
      if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return body.id;
    },
    async sendBase(store, generation, { isComplete = true, firstCut = { sequence: 1, takenAt: 0 } } = {}) {
      const config = { ...app.config, backup: { ...app.config.backup, recipients } };
      const backups = join(folder, 'backups');
      database = await copyDatabase();
      sentFiles = new Set(filesOf(dataDir));
      const { path } = await createBackup({ ...app, config, copyAccount: copyClosed(dataDir) }, backups);
      const pieces = [];
      for (const file of readdirSync(path).sort()) {
        const all = readFileSync(join(path, file));
        const count = Math.max(1, Math.ceil(all.length / PIECE_BYTES));
        for (let index = 0; index < count; index++) {
          const bytes = all.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES);
          const name = count === 1 ? file : file + pieceSuffix(index);
          await store.put(baseObject(installation, generation, name), { bytes });
          pieces.push({ name, bytes: bytes.length, sha256: sha256Of(bytes) });
        }
      }
      rmSync(backups, { recursive: true });
      cut = { ...cut, generation, sequence: 0, previous: null };
      lastSha256 = null;
      const list = { bytes: Buffer.from(JSON.stringify({ pieces, firstCut } satisfies BaseList)) };
      if (isComplete) await store.put(baseCompleteObject(installation, generation), list);
    },
    async sendSegment(store, takenAt, more = []) {
      const before = database;
      database = await copyDatabase();
      const files = filesOf(dataDir).filter((path) => !sentFiles.has(path));
      for (const path of files) sentFiles.add(path);
      cut = { ...cut, sequence: cut.sequence + 1, takenAt, previous: lastSha256 };
      const segment: Segment = {
        cut,
        databases: [{ path: 'postrider.db', pages: changedPages(before, database) }, ...more],
        files: [...files, 'installation.json'].map((path) => ({ path, from: join(dataDir, path) })),
      };
      const to = join(folder, 'segment');
      const { sha256, bytes } = await writeSegment(segment, recipients, to);
      await store.put(segmentObject(installation, cut.generation, cut.sequence), {
        file: to,
        start: 0,
        end: bytes,
      });
      lastSha256 = sha256;
      return cut;
    },
  };
}

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Returns the paths of the files of contents. */
function filesOf(dataDir: string): string[] {
  mkdirSync(join(dataDir, 'blobs'), { recursive: true });
  return readdirSync(join(dataDir, 'blobs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /[0-9a-f]{64}$/.test(name))
    .map((name) => join('blobs', name));
}

/** Returns the pages in which a database differs from an earlier state. */
export function changedPages(before: Buffer, now: Buffer): ChangedPages {
  const numbers: number[] = [];
  const contents: Buffer[] = [];
  for (let at = 0; at < now.length; at += PAGE_BYTES) {
    const page = now.subarray(at, at + PAGE_BYTES);
    if (page.equals(before.subarray(at, at + PAGE_BYTES))) continue;
    numbers.push(at / PAGE_BYTES + 1);
    contents.push(page);
  }
  const joined = new Uint8Array(new ArrayBuffer(numbers.length * PAGE_BYTES));
  joined.set(Buffer.concat(contents));
  return {
    pageBytes: PAGE_BYTES,
    databasePages: now.length / PAGE_BYTES,
    numbers: Uint32Array.from(numbers),
    contents: joined,
  };
}

/** Copies a folder of copies, as if another host had followed too. */
export function secondHost(folder: string): string {
  const other = temporaryDirectory('second-host');
  cpSync(folder, other, { recursive: true });
  return other;
}
