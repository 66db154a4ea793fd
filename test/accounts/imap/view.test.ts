/** Sessions that have selected the same folder share the list of its messages, and each still sees what its client was told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FolderState } from '../../../src/accounts/imap/folder-state.ts';
import { View } from '../../../src/accounts/imap/view.ts';
import type { FolderRow, MessageRow } from '../../../src/accounts/tables.ts';
import { createRandom } from '../../support/random.ts';

const FOLDER = { id: 1, uidValidity: 1, uidNext: 1, highestModseq: 1, recentFrom: 1 } as FolderRow;

/** A folder that changes, and its views. */
class Folder {
  readonly state = new FolderState(FOLDER);
  readonly present: number[] = [];
  #modseq = 1;

  add(count: number): void {
    const uids = Array.from({ length: count }, (_, index) => this.state.uidNext + index);
    const fields = { flags: 0, keywordSetId: 0, contentId: 1, modseq: ++this.#modseq };
    const messages = uids.map((uid) => ({ uid, ...fields }));
    this.state.apply({ kind: 'added', folderId: 1, modseq: this.#modseq, messages });
    this.present.push(...uids);
  }

  remove(index: number): void {
    const [uid] = this.present.splice(index, 1);
    if (uid === undefined) return;
    const messages = [{ uid, contentId: 1 } as MessageRow];
    this.state.apply({ kind: 'expunged', folderId: 1, modseq: ++this.#modseq, messages });
  }

  open(): View {
    return new View(this.state, { isReadOnly: true });
  }
}

function listed({ uids, count }: View): number[] {
  return [...uids.subarray(0, count)];
}

test('views without differences have one list, before and after messages come and go', () => {
  const folder = new Folder();
  folder.add(1_000);
  const views = Array.from({ length: 3 }, () => folder.open());
  const areShared = (): boolean => views.every(({ uids }) => uids === folder.state.uids);
  assert.equal(areShared(), true);
  folder.add(500);
  for (const view of views) assert.equal(view.addNew(), 500);
  assert.equal(areShared(), true);
  folder.remove(3);
  for (const view of views) view.removeGone({ onlyOwn: false });
  folder.state.forgetRemoved();
  for (const view of views) view.addNew();
  assert.equal(areShared(), true);
  assert.deepEqual(listed(views[0] as View), folder.present);
});

test('the flags of the last 1,000 messages are told again, each once', () => {
  const folder = new Folder();
  folder.add(1_500);
  const view = folder.open();
  const all = view.entries([1, 1_500]);
  const missed = (): number[] => view.withMissedFlags([]).map(({ uid }) => uid);
  view.pending.noteReportedFlags(all);
  assert.deepEqual(missed(), []);
  view.pending.isFetching = true;
  for (let repeat = 0; repeat < 3; repeat++) view.pending.noteReportedFlags(all);
  assert.deepEqual([missed(), missed()], [all.slice(500).map(({ uid }) => uid), []]);
});

test('each view has the messages that its client was told of', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = createRandom(seed);
    const folder = new Folder();
    const views: { view: View; told: number[] }[] = [];
    for (let step = 0; step < 200; step++) {
      const one = views[random(views.length || 1)];
      const kind = random(7);
      if (kind === 0) folder.add(1 + random(40));
      if (kind === 1) folder.remove(random(folder.present.length || 1));
      if (kind === 2 && views.length < 5) views.push({ view: folder.open(), told: [...folder.present] });
      if (kind === 3 && one) {
        const added = folder.present.filter((uid) => uid > (one.told.at(-1) ?? 0));
        assert.equal(one.view.addNew(), added.length);
        one.told.push(...added);
      }
      if (kind === 4 && one) {
        one.view.removeGone({ onlyOwn: false });
        one.told = one.told.filter((uid) => folder.present.includes(uid));
        folder.state.forgetRemoved();
      }
      if (kind === 5 && one && random(4) === 0) {
        folder.state.views.delete(one.view);
        views.splice(views.indexOf(one), 1);
        folder.state.forgetRemoved();
      }
      for (const { view, told } of views) assert.deepEqual(listed(view), told);
    }
  }
});
