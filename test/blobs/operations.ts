/** The writes of the blob tests: loaded by the database's threads too. */
import { emptyBlob, insertBlob } from '../../src/blobs/store.ts';
import { defineWrite } from '../../src/db/operation.ts';
import type { BlobRow } from '../../src/db/tables.ts';

export const keepBlob = defineWrite('test.keepBlob', (tx, blob: BlobRow) => insertBlob(tx, blob));

export const emptyKept = defineWrite('test.emptyKept', (tx, id: BlobRow['id']) => emptyBlob(tx, id));
