/**
 * The parts that an extension can add to the language: commands, tests, tags of either, comparators, and forms of strings. The base
 * language counts as an extension. `extensions/table.ts` lists them all.
 */
import type { HeaderField } from '../message/header-block.ts';
import type { Comparator, MatchValue } from './comparator.ts';
import { type ActionOptions, noOptions } from './run/action-list.ts';
import type { AddressParts, HeaderView } from './run/header-view.ts';
import type { Predicate, Run, ScriptName, Statement } from './run/run.ts';
import type { ScriptFault } from './syntax/script-error.ts';

/** Stands for all tests that compare values with keys. */
export const MATCHING_TESTS = 'tests that match';

/** Name of the extension that needs no `require`. */
export const BASE = 'base';

/**
 * Type of an argument. A constant is a string in which no variables are replaced, so that it is known when the script is checked.
 * A single string is a list of one (RFC 5228 section 2.4.2.1).
 */
export type ParameterType = 'text' | 'texts' | 'constant' | 'constants' | 'number';

/** An argument that is known by its place. One of a call may be optional. */
export type Parameter = { name: string; type: ParameterType; isOptional?: boolean };

/** An argument that is known by its tag. */
export type Tag = {
  /** Name in lower case, with its colon. */
  name: string;
  /** Type of the argument that follows the tag, if one does. */
  value?: ParameterType;
  /** Tags of one group exclude each other. */
  group?: string;
  /** Name of another tag without which this one has no meaning. */
  needs?: string;
  matchType?: MatchType;
  addressPart?: AddressPart;
  /** Returns the headers in which a test looks, instead of that of the message. */
  headers?: (call: Call) => (run: Run) => readonly HeaderView[];
  /** Returns the texts in a field that a test compares, instead of its value. */
  extract?: (call: Call) => (field: HeaderField, run: Run) => readonly string[];
  /** Returns what sets the options of an action each time it is taken. */
  modify?: (call: Call) => (options: ActionOptions, run: Run) => void;
};

/** Returns true when a value of the message matches a key of the script. */
export type Matcher = (run: Run, values: readonly MatchValue[]) => boolean;

type Matching = { call: Call; comparator: Comparator; keys: Texts };

export type MatchType = {
  /** True when the comparator must be able to find a text in another one. */
  needsSubstrings: boolean;
  /**
   * Returns the comparison.
   * @throws ScriptFault when the argument of the tag is an error
   */
  compile(matching: Matching): Matcher;
};

/** A part of an address that a test compares (RFC 5228 section 2.7.4). */
export type AddressPart = {
  name: string;
  /** Returns the part; undefined when the address has none. */
  read(address: AddressParts): string | undefined;
};

/** The script in which a string or a name stands. */
export type ScriptContext = {
  readonly notes: ScriptNotes;
  /** Returns true when the script has required a capability. */
  uses(capability: string): boolean;
};

/** Notes of the compiler about a script while it reads it. */
export type ScriptNotes = {
  includes: ScriptName[];
  needsBody: boolean;
  /** True until a command other than `require` is found (RFC 5228 section 3.2). */
  mayRequire: boolean;
  /** Names of the loops around the place that is compiled. */
  loops: (string | undefined)[];
  /** Names of variables that the script shares with others. */
  globals: Set<string>;
  /** Names of variables that it has set. */
  variables: Set<string>;
  /** Number of characters and instructions of its regular expressions. */
  regexSize: number;
};

/**
 * A command or test with its arguments. Arguments are asked for by the name of their tag, with its colon, or by that of their
 * parameter; those that may be missing are asked for by `has` first.
 */
export type Call = ScriptContext & {
  readonly name: string;
  /** Tags of the call, in their order. */
  readonly tags: readonly Tag[];
  has(name: string): boolean;
  tagOf(group: string): Tag | undefined;
  text(name: string): Text;
  /**
   * Returns a text that is checked: a constant at once, another one in the run.
   * @throws ScriptFault when the constant is not valid
   */
  checkedText(name: string, isValid: (value: string) => boolean, message: string): Text;
  texts(name: string): Texts;
  constant(name: string): string;
  constants(name: string): readonly string[];
  number(name: string): number;
  test(): Predicate;
  testList(): readonly Predicate[];
  block(): Statement;
  /**
   * Makes a capability available to what follows.
   * @returns false when it is unknown
   */
  enable(capability: string): boolean;
  /** Makes a capability available that a test has found, unless it changes what strings mean. */
  enableByTest(capability: string): void;
  /** Returns true when the server has this capability. */
  isKnown(capability: string): boolean;
  /**
   * Returns the comparator that the call names, or the default one.
   * @throws ScriptFault when the comparator is unknown or was not required
   */
  comparator(): Comparator;
  /** Returns an error at an argument, or at the call. */
  fault(message: string, name?: string): ScriptFault;
};

export type Definition<Compiled> = {
  /** Name in lower case. */
  name: string;
  tags?: readonly Tag[];
  parameters?: readonly Parameter[];
  /** Number of tests: one without parentheses, or a list in parentheses. */
  tests?: 'one' | 'list';
  hasBlock?: boolean;
  /**
   * Returns the function that runs it.
   * @throws ScriptFault when the arguments have no meaning
   */
  compile(call: Call): Compiled;
};

export type CommandDefinition = Definition<Statement>;
export type TestDefinition = Definition<Predicate>;

export type Extension = {
  /** Capability that `require` names (RFC 5228 section 6.1). */
  name: string;
  /** Capabilities that it includes. */
  implies?: readonly string[];
  /** True when it changes what strings mean, so that `ihave` alone does not make it available (RFC 5463 section 4). */
  changesStrings?: boolean;
  commands?: readonly CommandDefinition[];
  tests?: readonly TestDefinition[];
  /** Tags that it adds to commands and tests of others. */
  tags?: readonly { on: readonly string[] | typeof MATCHING_TESTS; tags: readonly Tag[] }[];
  comparators?: readonly Comparator[];
  /**
   * Decodes a string when the script is checked.
   * @throws RangeError when the string is an error
   */
  decode?(value: string): string;
  /**
   * Returns the meaning of a string in which it replaces parts; undefined when there are none.
   * @throws RangeError when the string is an error
   */
  parse?(value: string, context: ScriptContext): Text | undefined;
};

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

/** Returns what makes the options of an action, each time it is taken. */
export function compileOptions(call: Call): (run: Run) => ActionOptions {
  const modifiers = call.tags.flatMap(({ modify }) => (modify ? [modify(call)] : []));
  return (run) => {
    const options = noOptions();
    for (const modify of modifiers) modify(options, run);
    return options;
  };
}

type SetOption = (options: ActionOptions, value: string) => void;

/** Returns a tag without an argument that sets an option of the actions that have it. */
export function optionTag(name: string, set: (options: ActionOptions) => void): Tag {
  return { name, modify: () => set };
}

/**
 * Returns a tag whose text sets an option of the actions that have it. A text that is not valid is an error.
 * @param problem says what the text must be
 */
export function textOptionTag(
  { name, group, isValid = () => true, problem = '' }: Pick<Tag, 'name' | 'group'> & Partial<TextCheck>,
  set: SetOption,
): Tag {
  return {
    name,
    value: 'text',
    ...(group !== undefined && { group }),
    modify(call) {
      const text = call.checkedText(name, isValid, problem);
      return (options, run) => set(options, text.read(run));
    },
  };
}

type TextCheck = { isValid(value: string): boolean; problem: string };

/** Returns a test whose only argument is a list of strings. */
export function textsTest(
  name: string,
  parameter: string,
  holds: (run: Run, texts: readonly string[]) => boolean,
): TestDefinition {
  return {
    name,
    parameters: [{ name: parameter, type: 'texts' }],
    compile(call) {
      const texts = call.texts(parameter);
      return (run) => holds(run, texts.read(run));
    },
  };
}
