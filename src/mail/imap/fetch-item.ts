/** Data items that FETCH can ask for (RFC 9051 section 6.4.5). They are plain data. */
import type { PartialRange, Section } from '../message/section.ts';

export type FetchItem = SimpleItem | SectionItem | BinaryItem | { kind: 'BINARY.SIZE'; part: PartNumber };

/**
 * `RFC822.SIZE` is the size in octets. `BODY` is BODYSTRUCTURE without extension data. `SAVEDATE` is the time at which the message came into
 * the mailbox (RFC 8514), and `PREVIEW` the beginning of its text (RFC 8970). EMAILID and THREADID are those of RFC 8474.
 */
type SimpleItem = {
  kind:
    | 'UID'
    | 'FLAGS'
    | 'INTERNALDATE'
    | 'RFC822.SIZE'
    | 'ENVELOPE'
    | 'BODY'
    | 'BODYSTRUCTURE'
    | 'MODSEQ'
    | 'SAVEDATE'
    | 'PREVIEW'
    | 'EMAILID'
    | 'THREADID';
};

/** Numbers of nested parts such as 1.2.3. Empty for the whole message. */
export type PartNumber = readonly number[];

/** `BODY[section]`, or one of its older names. */
type SectionItem = {
  kind: 'SECTION';
  /** Name of the item in the response, without a partial range: `BODY[1.MIME]` or `RFC822.TEXT`. */
  label: string;
  section: Section;
  /** Leaves `\Seen` as it is. */
  peek: boolean;
  partial: PartialRange | undefined;
};

/** `BINARY[part]`: the part without its transfer encoding (RFC 3516). */
export type BinaryItem = {
  kind: 'BINARY';
  part: PartNumber;
  peek: boolean;
  partial: PartialRange | undefined;
};

/** Returns the name of a section or a binary item in the response, with the offset of a partial range. */
export function labelOf(item: SectionItem | BinaryItem): string {
  const label = item.kind === 'SECTION' ? item.label : `BINARY[${item.part.join('.')}]`;
  return item.partial ? `${label}<${item.partial.offset}>` : label;
}
