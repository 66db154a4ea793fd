/**
 * Names of the objects that a primary ships. The names of an installation begin with its id, and those of a generation follow each other
 * in the order of their bytes, so that a list of the store shows segments in the order in which they apply.
 */
import { randomBytes } from 'node:crypto';
import { isoTime } from '../system/clock.ts';

/** Number of digits of sequences and epochs. One object a second needs three hundred years for as many. */
const DIGITS = 10;
const GENERATION = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;
const SEQUENCE = /^\d{10}$/;

/** Returns the name of a generation that begins now. It comes after the last one, also when the clock was set back. */
export function newGeneration(now: number, last?: string): string {
  const at = last === undefined ? now : Math.max(now, startOfGeneration(last) + 1_000);
  const time = isoTime(at).replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
  return `${time}-${randomBytes(4).toString('hex')}`;
}

/** Returns true for the name of a generation. */
export function isGeneration(name: string): boolean {
  return GENERATION.test(name);
}

/** Returns the time at which a generation began, in Unix milliseconds. */
export function startOfGeneration(generation: string): number {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z/.exec(generation) ?? [];
  const [year, month, day] = [date.slice(0, 4), date.slice(4, 6), date.slice(6)];
  return Date.parse(`${year}-${month}-${day}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`);
}

/** Returns the prefix of all objects of a generation. */
export function generationPrefix(installation: string, generation: string): string {
  return `${installation}/${generation}/`;
}

/** Returns the name of an object of a base: one of its files, or a piece of one. */
export function baseObject(installation: string, generation: string, name: string): string {
  return `${generationPrefix(installation, generation)}base/${name}`;
}

/** Returns the name of the object that says that a base is complete, and lists its objects. */
export function baseCompleteObject(installation: string, generation: string): string {
  return baseObject(installation, generation, 'complete');
}

/** Size of the pieces in which files are stored, in bytes. A file whose last piece is as large may have another one. */
export const PIECE_BYTES = 32 * 1024 * 1024;

/** A piece of a file of a base. */
export type Piece = { name: string; bytes: number; sha256: string };

/**
 * The first cut after a base was made. Segments before it were collected while the base was made, so that the base has some of their
 * changes and not others: together with all of them, this cut is a state again. Its time is in Unix milliseconds.
 */
export type FirstCut = { sequence: number; takenAt: number };

/** The content of the object `base/complete`. */
export type BaseList = { pieces: Piece[]; firstCut: FirstCut };

/** Returns the number of a piece of a file as it stands at the end of its name. */
export function pieceSuffix(piece: number): string {
  return `.${String(piece).padStart(5, '0')}`;
}

/** Returns the name of a segment. A large one has further pieces, whose names end with `pieceSuffix(1)` and so on. */
export function segmentObject(installation: string, generation: string, sequence: number): string {
  return generationPrefix(installation, generation) + numbered(sequence);
}

/** Returns the sequence in the name of a segment without its prefix; undefined for another object. */
export function sequenceOf(name: string): number | undefined {
  return SEQUENCE.test(name) ? Number(name) : undefined;
}

/** Returns the prefix of the objects that say who owns the installation. */
export function ownerPrefix(installation: string): string {
  return `${installation}/owner/`;
}

/** Returns the name of the object of an owner. Epochs begin at 1, and the highest is the owner. */
export function ownerObject(installation: string, epoch: number): string {
  return ownerPrefix(installation) + numbered(epoch);
}

/** Returns a number with leading zeros, as names have it. */
export function numbered(value: number): string {
  return String(value).padStart(DIGITS, '0');
}
