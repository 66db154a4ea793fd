/**
 * Finds which of many phrases occur in a text. A phrase is a sequence of words; ` * ` stands for a few arbitrary words. All phrases
 * share one tree of words, so that the time depends on the length of the text and hardly on the number of phrases, and no text can
 * make it explode as with regular expressions.
 */
import { splitReply } from './words.ts';

/** Maximum number of words that ` * ` stands for. A longer gap joins sentences that say different things. */
const MAX_GAP_WORDS = 8;
/** Maximum number of words between two gaps of a phrase, which bounds the search from each word. */
const MAX_FRAGMENT_WORDS = 20;

type Node = { next: Map<string, Node>; fragment: number | undefined };
type Occurrence = { start: number; end: number };
/** A phrase with the numbers of its fragments, which ` * ` separates. */
type Compiled = { phrase: string; fragments: readonly number[] };

export class PhraseIndex {
  readonly #root: Node = { next: new Map(), fragment: undefined };
  /** Phrases by their last fragment: a phrase is complete only when that one is found. */
  readonly #byLastFragment: Compiled[][] = [];
  #fragments = 0;

  constructor(phrases: Iterable<string>) {
    for (const phrase of new Set(phrases)) {
      const fragments = fragmentsOf(phrase).map((words) => this.#add(words));
      this.#byLastFragment[fragments.at(-1) ?? 0]?.push({ phrase, fragments });
    }
  }

  /** Returns the phrases that occur in the words. */
  find(words: readonly string[]): Set<string> {
    const occurrences = new Map<number, Occurrence[]>();
    for (let start = 0; start < words.length; start++) {
      let node: Node | undefined = this.#root;
      for (let end = start; end < words.length; end++) {
        node = node.next.get(words[end] ?? '');
        if (!node) break;
        if (node.fragment !== undefined) {
          const occurrence = { start, end: end + 1 };
          const known = occurrences.get(node.fragment);
          if (known) known.push(occurrence);
          else occurrences.set(node.fragment, [occurrence]);
        }
      }
    }
    const found = new Set<string>();
    for (const fragment of occurrences.keys())
      for (const { phrase, fragments } of this.#byLastFragment[fragment] ?? [])
        if (fragments.length === 1 || isChained(fragments, occurrences)) found.add(phrase);
    return found;
  }

  #add(words: readonly string[]): number {
    let node = this.#root;
    for (const word of words) {
      const next: Node = node.next.get(word) ?? { next: new Map(), fragment: undefined };
      node.next.set(word, next);
      node = next;
    }
    if (node.fragment === undefined) {
      node.fragment = this.#fragments++;
      this.#byLastFragment.push([]);
    }
    return node.fragment;
  }
}

/** Returns the words of a phrase, in one list for each piece between gaps. A phrase without words has none. */
function fragmentsOf(phrase: string): string[][] {
  return phrase.split(/(?:^|\s)\*(?=\s|$)/).map((piece) => [...splitReply(piece).words]);
}

/** Returns true when a phrase has words beside each gap, and not too many between two. */
export function isUsablePhrase(text: string): boolean {
  return fragmentsOf(text).every(({ length }) => length > 0 && length <= MAX_FRAGMENT_WORDS);
}

/** Returns true when the fragments follow each other, each within the gap behind the one before. */
function isChained(
  fragments: readonly number[],
  occurrences: ReadonlyMap<number, readonly Occurrence[]>,
): boolean {
  let ends: number[] | undefined;
  for (const fragment of fragments) {
    const before = ends;
    ends = (occurrences.get(fragment) ?? [])
      .filter(({ start }) => before === undefined || isWithinGap(before, start))
      .map(({ end }) => end);
  }
  return ends !== undefined && ends.length > 0;
}

/** `ends` are in ascending order. The nearest end before the start decides. */
function isWithinGap(ends: readonly number[], start: number): boolean {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  const nearest = ends[low - 1];
  return nearest !== undefined && start - nearest <= MAX_GAP_WORDS;
}
