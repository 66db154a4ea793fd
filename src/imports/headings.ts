/** The heading line of a file: which column is which. */
import { AppError } from '../system/errors.ts';

/** `First Name`, `first_name` and `first-name` are `firstname`. */
export function plainHeading(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[\s_-]/g, '');
}

/**
 * Where each column is. `meaningOf`: what a heading is the column of; undefined for one that is not read.
 * @throws AppError validation_error for one that comes twice
 */
export function placeColumns(
  headings: readonly string[],
  meaningOf: (heading: string, column: number) => string | undefined,
): Map<string, number> {
  const places = new Map<string, number>();
  for (const [column, heading] of headings.entries()) {
    const meaning = meaningOf(heading, column);
    if (meaning === undefined) continue;
    const earlier = places.get(meaning);
    if (earlier !== undefined) {
      throw badHeading(`Columns ${earlier + 1} and ${column + 1} are both \`${quote(heading)}\``);
    }
    places.set(meaning, column);
  }
  return places;
}

/** @throws AppError validation_error when there is none */
export function requireEmailColumn(places: ReadonlyMap<string, number>): number {
  const column = places.get('email');
  if (column !== undefined) return column;
  throw badHeading('The heading line has no `email`: the first line of the file must name its columns');
}

export function badHeading(message: string): AppError {
  return new AppError('validation_error', message);
}

const MAX_QUOTED_CHARACTERS = 64;

/** A heading as it is spoken of: it may be anything, and as long as a record. */
export function quote(heading: string): string {
  const plain = heading.trim().replace(/\p{Cc}/gu, ' ');
  return plain.length <= MAX_QUOTED_CHARACTERS
    ? plain
    : `${plain.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed()}…`;
}
