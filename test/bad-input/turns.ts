/** Shares out values over the places where they prove the same thing: each place takes some, and every value is tried. */

/** Returns every `of`th value, beginning where this place does: `of` places that follow each other take all values. */
export function turn<Value>(values: readonly Value[], place: number, of: number): Value[] {
  return values.filter((_value, index) => (index + place) % of === 0);
}
