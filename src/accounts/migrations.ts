/** The migrations of `index.db`, in order. */
import type { Migration } from '../db/migration.ts';
import { initial } from './migrations/0001-initial.ts';
import { noIndexOfModseqs } from './migrations/0002-no-index-of-modseqs.ts';
import { metadata } from './migrations/0003-metadata.ts';
import { keywordSetsInUse } from './migrations/0004-keyword-sets-in-use.ts';
import { pendingEdits } from './migrations/0005-pending-edits.ts';
import { spamSignals } from './migrations/0006-spam-signals.ts';

export const ACCOUNT_MIGRATIONS: readonly Migration[] = [
  initial,
  noIndexOfModseqs,
  metadata,
  keywordSetsInUse,
  pendingEdits,
  spamSignals,
];
