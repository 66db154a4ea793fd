/** A database with a schema of its own, for tests: notebooks and the notes in them. Loaded by the threads too. */
import type { Migration } from '../../src/db/migrate.ts';
import { defineRead, defineWrite, type Tx } from '../../src/db/operation.ts';
import { type Param, statement } from '../../src/db/statement.ts';
import { AppError } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';

export type NoteTables = {
  notebooks: { id: string; maxNotes: number };
  notes: { id: string; notebookId: string; text: string };
};

export const NOTE_MIGRATIONS: readonly [Migration, ...Migration[]] = [
  {
    id: '0001-notebooks',
    sql: 'CREATE TABLE notebooks (id TEXT PRIMARY KEY, maxNotes INTEGER NOT NULL) STRICT',
  },
  {
    id: '0002-notes',
    sql: `CREATE TABLE notes (
      id TEXT PRIMARY KEY,
      notebookId TEXT NOT NULL REFERENCES notebooks (id),
      text TEXT NOT NULL
    ) STRICT`,
  },
];

export const addNotebook = defineWrite(
  'notes.addNotebook',
  async (tx: Tx<NoteTables>, notebook: NoteTables['notebooks']) => {
    await tx.insertInto('notebooks').values(notebook).execute();
  },
);

const notesOf = statement((db: Tx<NoteTables>, param: Param<{ notebookId: string }>) =>
  db.selectFrom('notes').select(['id', 'text']).where('notebookId', '=', param('notebookId')).orderBy('id'),
);

type NewNote = { notebookId: string; text: string; now: number };

/** Draws the id itself. Refuses a note when the notebook is full, after it has written it. */
export const addNote = defineWrite(
  'notes.addNote',
  async (tx: Tx<NoteTables>, { notebookId, text, now }: NewNote) => {
    const id = newId('ct', now);
    await tx.insertInto('notes').values({ id, notebookId, text }).execute();
    const notes = await notesOf.all(tx, { notebookId });
    const { maxNotes } = await tx
      .selectFrom('notebooks')
      .select('maxNotes')
      .where('id', '=', notebookId)
      .executeTakeFirstOrThrow();
    if (notes.length > maxNotes) throw new AppError('quota_exceeded', `At most ${maxNotes} notes`);
    return id;
  },
);

export const readNotes = defineRead('notes.readNotes', (tx: Tx<NoteTables>, notebookId: string) =>
  notesOf.all(tx, { notebookId }),
);

/** Fails with the error that SQLite reports for a damaged database. */
export const damage = defineWrite('notes.damage', async (_tx: Tx<NoteTables>, _input: null) => {
  throw Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' });
});
