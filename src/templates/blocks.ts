/**
 * Conditions of a template: `{{#if name}}…{{else}}…{{/if}}`, which may be nested. There are no loops and no expressions. A text whose
 * conditions do not fit together has none, and its tags stay text.
 */

/** A part of a text: from `from` up to, but not including, `to`. */
type TextRange = { from: number; to: number };

export type Block = TextRange & {
  /** Variable that decides. */
  name: string;
  /** The tags of the condition, which are never shown: the first, the last, and `{{else}}` between them if there is one. */
  tags: readonly TextRange[];
};

/** Maximum number of conditions around one place. */
const MAX_DEPTH = 8;
/** Maximum number of conditions in one text. */
const MAX_BLOCKS = 1_000;

type Open = { name: string; tags: TextRange[] };

/** Returns the conditions in the order of their starts; none when their tags do not fit together, or are too many or too deep. */
export function findBlocks(tags: Iterable<RegExpExecArray>): Block[] {
  const blocks: Block[] = [];
  const open: Open[] = [];
  for (const { 0: whole, 1: name, 2: isElse, index: from } of tags) {
    const tag = { from, to: from + whole.length };
    const current = open.at(-1);
    if (name !== undefined) {
      if (open.length === MAX_DEPTH || blocks.length + open.length === MAX_BLOCKS) return [];
      open.push({ name, tags: [tag] });
    } else if (isElse !== undefined) {
      // Outside a condition, it is a variable of this name.
      if (current && current.tags.length > 1) return [];
      current?.tags.push(tag);
    } else {
      if (!current) return [];
      open.pop();
      current.tags.push(tag);
      blocks.push({
        name: current.name,
        tags: current.tags,
        from: current.tags[0]?.from ?? from,
        to: tag.to,
      });
    }
  }
  return open.length > 0 ? [] : blocks.toSorted((a, b) => a.from - b.from);
}

/**
 * Returns the ranges of a text that are not shown, in order and without overlaps. `isTrue` says whether a variable counts as true.
 */
export function hiddenRanges(blocks: readonly Block[], isTrue: (name: string) => boolean): TextRange[] {
  const ranges: TextRange[] = [];
  /** Hidden parts that may contain one of the next conditions. */
  let parts: TextRange[] = [];
  for (const { name, from, to, tags } of blocks) {
    parts = parts.filter((part) => part.to > from);
    if (parts.some((part) => part.from < from)) continue;
    const [first, second, last = second] = tags;
    if (!first || !second || !last) continue;
    const isShown = isTrue(name);
    const hasElse = last !== second;
    const part = isShown ? { from: second.from, to } : { from, to: hasElse ? second.to : to };
    parts.push(part);
    if (isShown) ranges.push(first, part);
    else ranges.push(part, ...(hasElse ? [last] : []));
  }
  return ranges.toSorted((a, b) => a.from - b.from);
}
