/** Recognises changes that change nothing, so that they do not move the time of the last change. */

/** Returns true when a row has these values already. */
export function hasValues<Row extends object>(row: Row, values: Readonly<Partial<Row>>): boolean {
  return (Object.keys(values) as (keyof Row)[]).every((column) => values[column] === row[column]);
}
