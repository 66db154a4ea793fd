/**
 * Reads the heading line of a file: which column has which field. A mapping in the request decides first, then the names that
 * are known, and a file without headings begins with an address.
 */
import { parseMailbox } from '../mail/address.ts';
import { AppError } from '../system/errors.ts';
import { readTextCell, trimText } from './cells.ts';
import { findMapped, type Mapping } from './mapping.ts';
import { plainForm } from './plain-form.ts';

export type Heading = {
  /** Number of the column, counted from 0. */
  column: number;
  /** The heading as the file has it, or `column_2` in a file without headings. */
  text: string;
  plain: string;
  /** The field that the mapping of the request gives; null leaves the column out. */
  mapped: string | null | undefined;
};

export type HeadingLine = {
  headings: readonly Heading[];
  isHeadless: boolean;
  /** Column of the first address in a file without headings. */
  firstAddress: number | undefined;
};

/** Maximum length of a heading that is compared with patterns. */
const MAX_COMPARED_CHARACTERS = 200;

/**
 * Returns the headings of a file. A first line with an address, and without a name of the column of addresses, is a row, so its file has
 * no headings.
 * @throws AppError validation_error for a mapping that names no column
 */
export function readHeadingLine(
  cells: readonly string[],
  mapping: Mapping | undefined,
  emailNames: ReadonlyMap<string, number>,
): HeadingLine {
  const isHeadless = cells.some(isAddress) && !cells.some((cell) => emailNames.has(plainForm(cell)));
  const texts = cells.map((cell, column) => (isHeadless ? `column_${column + 1}` : trimText(cell)));
  const mapped = findMapped(mapping, isHeadless ? texts.map(() => '') : texts);
  const headings = texts.map((text, column) => ({
    column,
    text,
    plain: isHeadless ? '' : plainForm(text.slice(0, MAX_COMPARED_CHARACTERS)),
    mapped: mapped.get(column),
  }));
  return { headings, isHeadless, firstAddress: isHeadless ? cells.findIndex(isAddress) : undefined };
}

/** Returns true when a cell is one address without a name. */
export function isAddress(cell: string): boolean {
  if (!cell.includes('@')) return false;
  const text = readTextCell(trimText(cell)) ?? '';
  return !/[<>\s]/.test(text) && parseMailbox(text) !== undefined;
}

/**
 * Returns the column of a field: the one that the mapping gives, else the one with the earliest of the known names.
 * @throws AppError validation_error when two columns have an equal claim
 */
export function chooseColumn(
  headings: readonly Heading[],
  field: string,
  names: ReadonlyMap<string, number>,
): Heading | undefined {
  return single(candidatesOf(headings, field, names));
}

/** Returns the column of a field that a file can do without: of several with an equal claim, the first one. */
export function chooseFirstColumn(
  headings: readonly Heading[],
  field: string,
  names: ReadonlyMap<string, number>,
): Heading | undefined {
  return candidatesOf(headings, field, names)[0];
}

function candidatesOf(
  headings: readonly Heading[],
  field: string,
  names: ReadonlyMap<string, number>,
): readonly Heading[] {
  const mapped = headings.filter((heading) => heading.mapped === field);
  if (mapped.length > 0) return mapped;
  const found = headings.filter(({ mapped, plain }) => mapped === undefined && names.has(plain));
  const rank = Math.min(...found.map(({ plain }) => names.get(plain) ?? 0));
  return found.filter(({ plain }) => names.get(plain) === rank);
}

function single(candidates: readonly Heading[]): Heading | undefined {
  const [first, second] = candidates;
  if (first && second) throw twoColumns(first, second);
  return first;
}

/** Returns the rank of each name, by its plain form, for `chooseColumn`. */
export function ranksOf(names: readonly string[]): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  for (const [rank, name] of names.entries()) {
    const plain = plainForm(name);
    if (!ranks.has(plain)) ranks.set(plain, rank);
  }
  return ranks;
}

/**
 * Returns the column of the address. When no name is known, the only heading that contains `email` is taken, and in a file without
 * headings the first cell that is an address. `isTaken` tells of headings that have another field.
 * @throws AppError validation_error when there is none
 */
export function chooseEmailColumn(
  { headings, firstAddress }: Pick<HeadingLine, 'headings' | 'firstAddress'>,
  names: ReadonlyMap<string, number>,
  isTaken: (heading: Heading) => boolean = () => false,
): Heading {
  const known = chooseColumn(headings, 'email', names);
  if (known) return known;
  const free = headings.filter((heading) => heading.mapped === undefined && !isTaken(heading));
  const similar = free.filter(
    ({ column, plain }) => column === firstAddress || plain.includes('email') || plain.includes('mailadres'),
  );
  if (similar.length === 1 && similar[0]) return similar[0];
  throw badHeading(
    'The heading line has no `email`: the first line of the file must name its columns, or `mapping` the column of the address',
  );
}

/** Returns the error for two columns with the same field. */
export function twoColumns(first: Heading, second: Heading): AppError {
  return badHeading(
    `Columns ${first.column + 1} and ${second.column + 1} are both \`${quote(second.text)}\`; \`mapping\` can leave one of them out`,
  );
}

/** Returns the error for an unusable heading line. */
export function badHeading(message: string): AppError {
  return new AppError('validation_error', message);
}

/** Maximum length of a heading in an error message. */
const MAX_QUOTED_CHARACTERS = 64;

/** Returns a heading for an error message. Control characters are replaced, and a long heading is cut. */
export function quote(heading: string): string {
  const plain = heading.trim().replace(/\p{Cc}/gu, ' ');
  return plain.length <= MAX_QUOTED_CHARACTERS
    ? plain
    : `${plain.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed()}…`;
}
