/** Reads the heading line of a file. */
import { AppError } from '../system/errors.ts';

/** Returns the plain form of a heading: `First Name`, `first_name` and `first-name` become `firstname`. */
export function plainHeading(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[\s_-]/g, '');
}

/**
 * Returns the column of each meaning. `meaningOf` returns the meaning of a heading, or undefined for an ignored one.
 * @throws AppError validation_error for a meaning that occurs twice
 */
export function assignColumns(
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

/**
 * Returns the column of the address.
 * @throws AppError validation_error when there is none
 */
export function requireEmailColumn(places: ReadonlyMap<string, number>): number {
  const column = places.get('email');
  if (column !== undefined) return column;
  throw badHeading('The heading line has no `email`: the first line of the file must name its columns');
}

/** Returns the error for an unusable heading line. */
export function badHeading(message: string): AppError {
  return new AppError('validation_error', message);
}

/** Maximum length of a heading in an error message. Our own limit. */
const MAX_QUOTED_CHARACTERS = 64;

/** Returns a heading for an error message. Control characters are replaced, and a long heading is cut. */
export function quote(heading: string): string {
  const plain = heading.trim().replace(/\p{Cc}/gu, ' ');
  return plain.length <= MAX_QUOTED_CHARACTERS
    ? plain
    : `${plain.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed()}…`;
}
