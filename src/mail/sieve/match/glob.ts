/**
 * Patterns with `*` and `?` (RFC 5228 section 2.7.1). A pattern is cut at its stars. The first piece must begin the text, the last one end
 * it, and each piece between them is taken at the first place where it fits, so that no choice is ever taken back and the time is linear.
 * This also gives each star the shortest text, from left to right (RFC 5229 section 3.2).
 */

/** Characters without wildcards, or `null` for each `?`. */
type Piece = {
  text: string;
  /** Places of `?` in the piece, whose text has any character there. */
  wildcards: readonly number[];
};

export type Glob = {
  pieces: readonly Piece[];
  /** Length of all pieces together. */
  length: number;
  /** Wildcards in the order of the pattern. */
  wildcards: string;
};

/** Returns the pattern, whose characters are UTF-16 code units. A backslash takes the meaning from the next character. */
export function parseGlob(pattern: string): Glob {
  const pieces: Piece[] = [];
  let text = '';
  let own: number[] = [];
  let wildcards = '';
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === '*') {
      pieces.push({ text, wildcards: own });
      text = '';
      own = [];
    } else if (character === '?') {
      own.push(text.length);
      text += '?';
    } else {
      if (character === '\\' && at + 1 < pattern.length) at++;
      text += pattern.charAt(at);
    }
    if (character === '*' || character === '?') wildcards += character;
  }
  pieces.push({ text, wildcards: own });
  return { pieces, length: pieces.reduce((sum, piece) => sum + piece.text.length, 0), wildcards };
}

/**
 * Returns the place of each piece in a text; undefined when the text does not match. The pieces end where the stars begin.
 * @param spend counts comparisons, and may throw
 */
export function matchGlob(
  { pieces, length }: Glob,
  text: string,
  spend: (comparisons: number) => void,
): readonly number[] | undefined {
  const first = pieces[0] as Piece;
  const last = pieces.at(-1) as Piece;
  if (pieces.length === 1) return text.length === length && fitsAt(first, text, 0) ? [0] : undefined;
  const end = text.length - last.text.length;
  if (text.length < length || !fitsAt(first, text, 0) || !fitsAt(last, text, end)) return undefined;
  const places = [0];
  let at = first.text.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = find(piece, text, { from: at, end, spend });
    if (found < 0) return undefined;
    places.push(found);
    at = found + piece.text.length;
  }
  places.push(end);
  return at <= end ? places : undefined;
}

type Search = { from: number; end: number; spend: (comparisons: number) => void };

/** Returns the first place of a piece that ends before `end`; -1 when there is none. */
function find(piece: Piece, text: string, { from, end, spend }: Search): number {
  if (piece.wildcards.length > 0) return findWithWildcards(piece, text, { from, end, spend });
  const found = text.indexOf(piece.text, from);
  return found + piece.text.length <= end ? found : -1;
}

/** Number of bits in an element of the set of states. */
const WORD_BITS = 32;

/**
 * Finds a piece with `?` by the Shift-And algorithm: a bit for each character of the piece says whether the text ends with the piece up to
 * there. Each character of the text takes as many steps as the bits take words, whatever the texts are.
 */
function findWithWildcards(piece: Piece, text: string, { from, end, spend }: Search): number {
  const { length } = piece.text;
  const words = Math.ceil(length / WORD_BITS);
  const { masks, others } = masksOf(piece, words);
  const last = 1 << ((length - 1) % WORD_BITS);
  const state = new Uint32Array(words);
  spend((end - from) * words);
  for (let at = from; at < end; at++) {
    const mask = masks.get(text.charCodeAt(at)) ?? others;
    let carry = 1;
    for (let word = 0; word < words; word++) {
      const bits = state[word] as number;
      state[word] = ((bits << 1) | carry) & (mask[word] as number);
      carry = bits >>> (WORD_BITS - 1);
    }
    if (((state[words - 1] as number) & last) !== 0) return at + 1 - length;
  }
  return -1;
}

type Masks = {
  /** Places in the piece at which each of its characters fits. */
  masks: ReadonlyMap<number, Uint32Array>;
  /** Places at which any other character fits. */
  others: Uint32Array;
};

function masksOf({ text, wildcards }: Piece, words: number): Masks {
  const others = new Uint32Array(words);
  const isWildcard = new Set(wildcards);
  for (const place of wildcards) setBit(others, place);
  const masks = new Map<number, Uint32Array>();
  for (let place = 0; place < text.length; place++) {
    if (isWildcard.has(place)) continue;
    const code = text.charCodeAt(place);
    const mask = masks.get(code) ?? others.slice();
    setBit(mask, place);
    masks.set(code, mask);
  }
  return { masks, others };
}

function setBit(words: Uint32Array, place: number): void {
  const word = Math.floor(place / WORD_BITS);
  words[word] = (words[word] as number) | (1 << (place % WORD_BITS));
}

function fitsAt({ text: piece, wildcards }: Piece, text: string, at: number): boolean {
  if (wildcards.length === 0) return text.startsWith(piece, at);
  let next = 0;
  for (let index = 0; index < piece.length; index++) {
    if (wildcards[next] === index) next++;
    else if (piece.charCodeAt(index) !== text.charCodeAt(at + index)) return false;
  }
  return true;
}
