/** The test `body` (RFC 5173). */
import type { MimeEntity } from '../../message/mime-tree.ts';
import type { MatchValue } from '../comparator.ts';
import type { Call, Extension } from '../definition.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import type { SievePart, TextKind } from '../run/sieve-message.ts';
import { descend } from './mime.ts';
import {
  hasBody,
  readEpilogue,
  readHeaderText,
  readPrologue,
  readRawText,
  readText,
  readVisibleText,
} from './part-text.ts';

type ReadTexts = (run: Run) => Iterable<MatchValue>;

/** Returns what reads the texts that are compared, each of them alone. */
function textsOf(call: Call): ReadTexts {
  if (call.has(':raw')) return rawTexts;
  if (call.has(':content')) {
    const types = call.texts(':content');
    return (run) => contents(run, types.read(run));
  }
  return visibleTexts;
}

function rawTexts(run: Run): MatchValue[] {
  return [readOnce(run, run.message.root.entity, 'raw')];
}

/** Yields the texts that a reader sees (RFC 5173 section 5.3). */
function* visibleTexts(run: Run): Generator<MatchValue> {
  for (const part of descend(run, run.message.root))
    if (part.parts.length === 0 && part.entity.type === 'text') yield readOnce(run, part.entity, 'visible');
}

/** Yields the bodies of the parts of some types (RFC 5173 section 5.2). */
function* contents(run: Run, types: readonly string[]): Generator<MatchValue> {
  const wanted = types.map((type) => type.toLowerCase());
  for (const part of descend(run, run.message.root))
    if (wanted.some((type) => isOfType(part.entity, type))) yield* contentOf(run, part);
}

/**
 * Yields the content of a part. That of a multipart is its prologue and its epilogue, and that of a message its header
 * (RFC 5173 section 5.2).
 */
function* contentOf(run: Run, { entity, parts }: SievePart): Generator<MatchValue> {
  if (entity.message) yield readOnce(run, entity.message, 'header');
  else if (parts.length === 0) yield readOnce(run, entity, 'content');
  else {
    yield readOnce(run, entity, 'prologue');
    yield readOnce(run, entity, 'epilogue');
  }
}

const READERS: Readonly<Record<TextKind, (octets: Buffer, part: MimeEntity) => string>> = {
  raw: readRawText,
  content: readText,
  visible: readVisibleText,
  header: readHeaderText,
  prologue: readPrologue,
  epilogue: readEpilogue,
};

/** Returns a text of a part. Reading it counts as work once, as it is done once. */
function readOnce(run: Run, part: MimeEntity, kind: TextKind): MatchValue {
  const { message } = run;
  return message.textOf(kind, part, () => {
    const text = READERS[kind](message.octets, part);
    run.spendOnText(text.length);
    return text;
  });
}

/** An empty type is that of each part, and one without a slash is that of all its subtypes. */
function isOfType({ type, subtype }: MimeEntity, wanted: string): boolean {
  return wanted === '' || wanted === type || wanted === `${type}/${subtype}`;
}

export const BODY: Extension = {
  name: 'body',
  tests: [
    {
      name: 'body',
      tags: [
        ...MATCH_TAGS,
        { name: ':raw', group: 'body transform' },
        { name: ':content', value: 'texts', group: 'body transform' },
        { name: ':text', group: 'body transform' },
      ],
      parameters: [KEYS],
      compile(call) {
        call.notes.needsBody = true;
        const readTexts = textsOf(call);
        const matches = compileMatcher(call);
        return (run) => {
          // The test leaves the match variables as they are (RFC 5173 section 6).
          const { matchValues, message } = run;
          // A message that ends in its header has no text at all (RFC 5173 section 4).
          if (!hasBody(message.octets, message.root.entity)) return false;
          const isMatch = matches(run, [...readTexts(run)]);
          run.matchValues = matchValues;
          return isMatch;
        };
      },
    },
  ],
};
