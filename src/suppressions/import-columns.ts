/**
 * Decides which columns of a list of suppressions are read: the mapping of the request first, then the names that are known. All
 * other columns are left out. A file without headings has addresses, and perhaps a reason.
 */
import type { SuppressionReason } from '../db/marketing-tables.ts';
import type { ColumnUse } from '../imports/handler.ts';
import {
  chooseEmailColumn,
  chooseFirstColumn,
  type Heading,
  type HeadingLine,
  ranksOf,
  readHeadingLine,
} from '../imports/headings.ts';
import type { Mapping } from '../imports/mapping.ts';
import { byPlainForm, plainForm } from '../imports/plain-form.ts';
import { EMAIL_NAMES } from '../imports/products/field-names.ts';
import {
  DIAGNOSTIC_NAMES,
  EXPIRED_NAMES,
  LISTS_WITHOUT_REASON,
  MARK_NAMES,
  REASON_NAMES,
  TIME_NAMES,
} from '../imports/products/suppression-names.ts';

export type SuppressionColumns = {
  email: number;
  /** Columns that may name the reason, with the most usual name first. */
  reasons: readonly number[];
  /** Columns whose values tell the reason by being there. */
  marks: readonly { column: number; reason: SuppressionReason }[];
  diagnostic: number | undefined;
  time: number | undefined;
  expired: number | undefined;
  /** Reason of a list that is known by its headings. */
  ofList: SuppressionReason | undefined;
  isHeadless: boolean;
  uses: readonly ColumnUse[];
};

const EMAIL_RANKS = ranksOf(EMAIL_NAMES);
const REASON_RANKS = ranksOf(REASON_NAMES);
const DIAGNOSTIC_RANKS = ranksOf(DIAGNOSTIC_NAMES);
const TIME_RANKS = ranksOf(TIME_NAMES);
const EXPIRED_RANKS = ranksOf(EXPIRED_NAMES);
const MARKS = (['complaint', 'bounce', 'unsubscribe'] as const).map((reason) => ({
  reason,
  names: byPlainForm([[MARK_NAMES[reason], true]]),
}));
const LISTS = new Map(
  LISTS_WITHOUT_REASON.map(({ headings, reason }) => [keyOf(headings.map(plainForm)), reason]),
);

/** The fields that a mapping can give, for errors and the document. */
export const SUPPRESSION_FIELDS = '`email`, `reason`, `diagnostic`, `createdAt`';

/** Returns true for a field that a mapping can give. */
export function isSuppressionField(field: string): boolean {
  return ['email', 'reason', 'diagnostic', 'createdAt'].includes(field);
}

/**
 * Returns the columns of a file. `cells` are its first record.
 * @throws AppError validation_error for a heading line that cannot be used
 */
export function readSuppressionColumns(
  cells: readonly string[],
  mapping: Mapping | undefined,
): SuppressionColumns {
  const line = readHeadingLine(cells, mapping, EMAIL_RANKS);
  const { headings, isHeadless } = line;
  const email = chooseEmailColumn(line, EMAIL_RANKS);
  const diagnostic = chooseFirstColumn(headings, 'diagnostic', DIAGNOSTIC_RANKS);
  const time = chooseFirstColumn(headings, 'createdAt', TIME_RANKS);
  const expired = chooseFirstColumn(headings, 'expired', EXPIRED_RANKS);
  const isOpen = (heading: Heading) => heading.mapped === undefined && heading !== email;
  const rankOf = ({ mapped, plain }: Heading) => (mapped === 'reason' ? -1 : (REASON_RANKS.get(plain) ?? 0));
  const reasons = headings
    .filter(
      (heading) =>
        heading.mapped === 'reason' || (isOpen(heading) && (isHeadless || REASON_RANKS.has(heading.plain))),
    )
    .sort((one, other) => rankOf(one) - rankOf(other));
  const marks = MARKS.flatMap(({ reason, names }) =>
    headings
      .filter((heading) => isOpen(heading) && names.has(heading.plain))
      .map(({ column }) => ({ column, reason })),
  );
  return {
    email: email.column,
    reasons: reasons.map(({ column }) => column),
    marks,
    diagnostic: diagnostic?.column,
    time: time?.column,
    expired: expired?.column,
    ofList:
      reasons.length + marks.length > 0 ? undefined : LISTS.get(keyOf(headings.map(({ plain }) => plain))),
    isHeadless,
    uses: usesOf(line, (heading) => {
      if (heading === email) return 'email';
      if (heading === time) return 'createdAt';
      if (heading === diagnostic) return 'diagnostic';
      if (reasons.includes(heading) || marks.some(({ column }) => column === heading.column)) return 'reason';
      return null;
    }),
  };
}

function keyOf(plainHeadings: readonly string[]): string {
  return plainHeadings.toSorted().join();
}

function usesOf({ headings }: HeadingLine, fieldOf: (heading: Heading) => string | null): ColumnUse[] {
  return headings.map((heading) => ({ heading: heading.text, field: fieldOf(heading) }));
}
