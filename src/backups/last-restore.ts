/** Remembers what the last restoration of a data directory has done. The command that restores says it once; pages show it later. */
import { type Static, Type } from 'typebox';
import { rememberedFile } from './remembered-file.ts';

const lastRestoreSchema = Type.Object({
  /** Path of the backup, or the cut of a standby. */
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

const file = rememberedFile('restored.json', lastRestoreSchema);

export const readLastRestore = file.read;

/** Notes what was done, for those who look at the restored installation later. Nothing depends on it. */
export function rememberRestore(dataDir: string, done: LastRestore): void {
  try {
    file.write(dataDir, done);
  } catch {
    // The restoration is complete, also when the disk has no space for this note.
  }
}
