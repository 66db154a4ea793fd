/** Strings of a script whose value may depend on the run. */
import type { Run } from '../run/run.ts';

export type Text = {
  /** The text as the script has it. */
  source: string;
  /** Value that is the same in every run; undefined when it depends on variables. */
  constant: string | undefined;
  read(run: Run): string;
};

export type Texts = {
  /** Values that are the same in every run; undefined when one depends on variables. */
  constants: readonly string[] | undefined;
  read(run: Run): readonly string[];
};

/** Returns a text with the same value in every run. */
export function constantText(value: string): Text {
  return { source: value, constant: value, read: () => value };
}

/** Returns a list of texts. */
export function joinTexts(texts: readonly Text[]): Texts {
  const constants: string[] = [];
  for (const { constant } of texts) if (constant !== undefined) constants.push(constant);
  if (constants.length === texts.length) return constantTexts(constants);
  return variableTexts(texts);
}

/** Returns a list of constants, whose memory is theirs alone: a mailbox may have thousands of rules. */
function constantTexts(constants: readonly string[]): Texts {
  return { constants, read: () => constants };
}

function variableTexts(texts: readonly Text[]): Texts {
  return { constants: undefined, read: (run) => texts.map((text) => text.read(run)) };
}

function changedTexts(read: Texts['read'], change: (value: string) => string): Texts {
  return { constants: undefined, read: (run) => read(run).map(change) };
}

/** Returns the list with each value changed. Constants are changed once. */
export function mapTexts({ constants, read }: Texts, change: (value: string) => string): Texts {
  return constants ? constantTexts(constants.map(change)) : changedTexts(read, change);
}
