/** A cut: a state of all databases together, to which a standby can go. Each segment ends with one. */

export type Cut = {
  /** Number of the form of a segment. */
  format: 1;
  /** Id of the installation (db/installation/file.ts). */
  installation: string;
  generation: string;
  /** Position in the generation. The first segment after the base has 1. */
  sequence: number;
  /** Time of the state of the main database, in Unix milliseconds. */
  takenAt: number;
  /** SHA-256 of the object of the segment before it; null in the first one. */
  previous: string | null;
};
