/**
 * The reply table in the form in which replies are compared with it. Phrases and codes select the few rows that may match a reply;
 * of those that do, the first of the table decides. The time therefore hardly depends on the number of rows.
 */
import { codePatternsOf, enhancedPatternsOf } from './code-patterns.ts';
import type { Fact, Meaning } from './meaning.ts';
import { PhraseIndex } from './phrases.ts';
import type { ReplyPhase, ReplyRows, Row } from './row.ts';
import { isWithin, type ReplyWords, splitReply } from './words.ts';

/** A reply of a server, or one that a bounce by mail quotes. */
type Reply = {
  phase: ReplyPhase;
  /** Reply code; null when the bounce by mail quotes none. */
  code: number | null;
  enhanced: string | null;
  text: string;
  /** Name of the server; null when it is unknown. */
  host: string | null;
  /** Further names of the delivery that mean nothing in the text, such as the domain of the recipient, in lower case. */
  ownNames?: readonly string[];
};

/** A reply with everything that conditions are compared with. */
type Read = Pick<Reply, 'phase' | 'code' | 'enhanced'> & {
  codePatterns: readonly string[];
  enhancedPatterns: readonly string[];
  hosts: readonly string[];
  phrases: ReadonlySet<string>;
  providers: ReadonlySet<string>;
};

export class ReplyTable {
  readonly rows: readonly Row[];
  readonly #providers: ReplyRows['providers'];
  readonly #phrases: PhraseIndex;
  readonly #order: ReadonlyMap<Row, number>;
  /** Rows with phrases by each of them, and rows without by the code that they name. */
  readonly #byPhrase = new Map<string, Row[]>();
  readonly #byCode = new Map<string, Row[]>();
  readonly #byFact: ReadonlyMap<Fact | undefined, Row>;

  constructor({ rows, providers }: ReplyRows) {
    this.rows = rows;
    this.#providers = providers;
    this.#order = new Map(rows.map((row, index) => [row, index]));
    this.#byFact = new Map(rows.filter(({ fact }) => fact !== undefined).map((row) => [row.fact, row]));
    const words = [...providers.values()].flatMap((provider) => provider.words);
    this.#phrases = new PhraseIndex([...words, ...rows.flatMap(({ text, unless }) => [...text, ...unless])]);
    for (const row of rows) {
      if (row.fact !== undefined) continue;
      for (const phrase of row.text) append(this.#byPhrase, phrase, row);
      if (row.text.length === 0) for (const key of codeKeysOf(row)) append(this.#byCode, key, row);
    }
  }

  /** Returns what an own fact means. */
  explainFact(fact: Fact): Meaning {
    const row = this.#byFact.get(fact);
    return row ? meaningOf(row, row.suppresses) : UNKNOWN;
  }

  /** Returns what a reply means. A temporary reply never suppresses, whatever its text says. */
  explain(reply: Reply): Meaning {
    const read = this.#read(reply);
    let first: Row | undefined;
    for (const rows of this.#candidates(read))
      for (const row of rows)
        if ((first === undefined || this.#isBefore(row, first)) && this.#matches(row, read)) first = row;
    if (!first) return UNKNOWN;
    return meaningOf(first, isTemporary(read) ? 'never' : first.suppresses);
  }

  #read({ phase, code, enhanced, text, host, ownNames = [] }: Reply): Read {
    const server = host?.toLowerCase() ?? null;
    const split = splitReply(text, server === null ? ownNames : [...ownNames, server]);
    const phrases = this.#phrases.find(split.words);
    const known = enhanced ?? markedCode(split);
    return {
      phase,
      code,
      enhanced: known,
      codePatterns: codePatternsOf(code),
      enhancedPatterns: enhancedPatternsOf(known),
      hosts: split.hosts,
      phrases,
      providers: this.#providersOf(server, phrases),
    };
  }

  #providersOf(host: string | null, phrases: ReadonlySet<string>): ReadonlySet<string> {
    const known = new Set<string>();
    for (const [name, { hosts, words }] of this.#providers) {
      const isNamed = host !== null && hosts.some((domain) => isWithin(host, domain));
      if (isNamed || (host === null && words.some((word) => phrases.has(word)))) known.add(name);
    }
    return known;
  }

  /** Returns the lists of rows that may match. A row may be in several. */
  #candidates({ phrases, codePatterns, enhancedPatterns }: Read): (readonly Row[])[] {
    const lists: (readonly Row[])[] = [];
    for (const phrase of phrases) lists.push(this.#byPhrase.get(phrase) ?? []);
    for (const key of [...enhancedPatterns, ...codePatterns, ANY]) lists.push(this.#byCode.get(key) ?? []);
    return lists;
  }

  #isBefore(one: Row, other: Row): boolean {
    return (this.#order.get(one) ?? 0) < (this.#order.get(other) ?? 0);
  }

  #matches(row: Row, read: Read): boolean {
    const { phase, codePatterns, enhancedPatterns, phrases, providers, hosts } = read;
    if (row.provider !== undefined && !providers.has(row.provider)) return false;
    if (row.phases.length > 0 && !row.phases.includes(phase)) return false;
    if (row.codes.length > 0 && !codePatterns.some((pattern) => row.codes.includes(pattern))) return false;
    if (row.enhanced.length > 0 && !enhancedPatterns.some((pattern) => row.enhanced.includes(pattern)))
      return false;
    if (row.names.length > 0 && !row.names.some((name) => hosts.some((host) => isWithin(host, name))))
      return false;
    return !row.unless.some((phrase) => phrases.has(phrase));
  }
}

/** The meaning of a reply that no row describes. */
const UNKNOWN: Meaning = {
  class: 'unknown',
  suppresses: 'never',
  scope: 'message',
  subType: 'General',
  advice: 'Read the reply: no row of the reply table describes it.',
  row: 'none',
};

function meaningOf(row: Row, suppresses: Meaning['suppresses']): Meaning {
  return {
    class: row.class,
    suppresses,
    scope: row.scope,
    subType: row.subType,
    advice: row.advice,
    row: row.id,
  };
}

/** The class of the reply code counts; that of the enhanced code counts when there is no reply code. */
function isTemporary({ code, enhanced }: Pick<Read, 'code' | 'enhanced'>): boolean {
  return code === null ? (enhanced?.startsWith('4.') ?? false) : code < 500;
}

/** Returns the code that programs such as qmail write into the text: `no mailbox here by that name (#5.1.1)`. */
function markedCode({ words }: ReplyWords): string | null {
  const at = words.findIndex((word) => /^#[45]$/.test(word));
  const [subject, detail] = [words[at + 1], words[at + 2]];
  if (at < 0 || !/^\d{1,3}$/.test(subject ?? '') || !/^\d{1,3}$/.test(detail ?? '')) return null;
  return `${words[at]?.slice(1)}.${subject}.${detail}`;
}

/** A row without phrases is found by its enhanced codes, else by its reply codes, else by the key that every reply has. */
const ANY = 'any';
function codeKeysOf({ enhanced, codes }: Row): readonly string[] {
  if (enhanced.length > 0) return enhanced;
  return codes.length > 0 ? codes : [ANY];
}

function append(lists: Map<string, Row[]>, key: string, row: Row): void {
  const list = lists.get(key);
  if (list) list.push(row);
  else lists.set(key, [row]);
}
