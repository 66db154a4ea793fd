/** Remembers what the last restoration of a data directory has done. The command that restores says it once; pages show it later. */
import { type Static, Type } from 'typebox';
import { rememberedFile } from './remembered-file.ts';

const lastRestoreSchema = Type.Object({
  /** Path of the backup. */
  backup: Type.String(),
  /** Time of the restoration, and of the state that the data has since, in Unix milliseconds. */
  restoredAt: Type.Integer(),
  takenAt: Type.Integer(),
  /** Version of the program that made the backup. */
  version: Type.String(),
  /** Number of mailboxes whose folders got new UIDVALIDITYs. */
  mailboxes: Type.Integer(),
  /** Folder with the data that was there; null when there was none. */
  replaced: Type.Union([Type.String(), Type.Null()]),
});

export type LastRestore = Static<typeof lastRestoreSchema>;

export const { read: readLastRestore, write: writeLastRestore } = rememberedFile(
  'restored.json',
  lastRestoreSchema,
);
