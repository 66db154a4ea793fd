/** Remembers how the last copy of a backup off this host has ended, so that `postrider doctor` knows it without the daemon. */
import { type Static, Type } from 'typebox';
import { rememberedFile } from './remembered-file.ts';

const lastCopySchema = Type.Object({
  /** Name of the backup. */
  backup: Type.String(),
  /** Times in Unix milliseconds; `endedAt` is null while the copy runs, and after a kill of the daemon. */
  startedAt: Type.Integer(),
  endedAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Reason why the copy has failed; null when it has not. */
  failure: Type.Union([Type.String(), Type.Null()]),
});

export type LastCopy = Static<typeof lastCopySchema>;

export const { read: readLastCopy, write: writeLastCopy } = rememberedFile(
  'backup-copy.json',
  lastCopySchema,
);
