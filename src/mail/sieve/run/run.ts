/** A compiled script, what a run of it is given, and the state of the run, of which nothing outlives it. */
import type { Action } from '../actions.ts';
import type { ScriptError } from '../syntax/script-error.ts';
import { type Annotations, type Folder, Folders, InputNeeded, type KnownContact } from './account.ts';
import { ActionList } from './action-list.ts';
import { SieveMessage, type SievePart } from './sieve-message.ts';

/** How a block ends early: with the script, with an included script, or with the loop of this name. */
export type Flow = 'stop' | 'return' | { break: string | undefined } | undefined;

export type Statement = (run: Run) => Flow;
export type Predicate = (run: Run) => boolean;

/** A script that another one includes (RFC 6609 section 3.2). */
export type ScriptName = { location: 'personal' | 'global'; name: string };

/** A script without static errors. It belongs to the thread that compiled it and can be run any number of times. */
export type Script = {
  run: Statement;
  /** Scripts that it includes. */
  includes: readonly ScriptName[];
  /** True when a test or action reads the body of the message. */
  needsBody: boolean;
  /** Number of characters and instructions of its regular expressions, which take memory beside the text. */
  regexSize: number;
};

export type CheckedScript =
  | { kind: 'valid'; script: Script }
  /** Errors in the order of the text; there is at least one. */
  | { kind: 'invalid'; errors: readonly ScriptError[] };

export type RunInput = {
  message: {
    /** The whole message. The header is enough unless the script, or one that it includes, `needsBody`. */
    octets: Uint8Array;
    /** Size of the whole message. */
    sizeBytes: number;
  };
  envelope: {
    /** Address of MAIL FROM without its angle brackets; empty for the null reverse-path. */
    from: string;
    /** Address of RCPT TO for which the message is delivered. */
    to: string;
  };
  /** Items of the environment (RFC 5183 section 4.1) by their names in lower case. */
  environment: Readonly<Record<string, string>>;
  /** Time in Unix milliseconds, which is that of `currentdate`. */
  now: number;
  /** Offset of the local time zone from UTC in minutes, positive to the east. */
  zoneMinutes: number;
  /** Folders of the account; undefined until a run of the script has needed them. */
  folders: readonly Folder[] | undefined;
  /** Annotations of the mailboxes that runs of the script have asked about. None by default. */
  annotations?: readonly Annotations[];
  /** Answers about the address book that runs of the script have asked for. None by default. */
  contacts?: readonly KnownContact[];
  /**
   * Keys of `duplicate` that belong to messages which came before. The run takes each other key for a new one, and names it among those
   * to remember: the caller runs the script again when it finds that one of them is known.
   */
  duplicates: readonly string[];
  /** Scripts that the script includes, directly or not, by `<location>/<name>`. */
  scripts: ReadonlyMap<string, CheckedScript>;
  /** Actions of the scripts that ran before this one for the same message. None by default. */
  earlier?: readonly Action[];
  /** How likely it is that the message is spam, from 0 to 100; undefined when it was not tested (RFC 5235). */
  spamPercent: number | undefined;
};

/** A key that is remembered from the time at which the message is delivered on (RFC 7352). */
export type RememberedKey = { key: string; seconds: number };

/**
 * Maximum number of steps of a run. A command and a comparison of a value with a key are one step each. A script of 100 rules takes some
 * hundreds, and as many rules about the body of a message some ten thousands.
 */
const MAX_STEPS = 200_000;
/** Number of characters that take a step where text is made or compared one by one, and where it is searched. */
const CHARACTERS_PER_STEP = 128;
const SEARCHED_CHARACTERS_PER_STEP = 1_024;
/** Number of characters that take a step where each of them is looked up in the tables of Unicode, which takes much longer. */
const MAPPED_CHARACTERS_PER_STEP = 8;

/** Ends a run that failed. It never leaves `runScript`. */
export class RunFault extends Error {
  override readonly name = 'RunFault';
}

export class Run {
  readonly input: RunInput;
  /** The whole message. */
  readonly whole: SieveMessage;
  /** The message that the script sees: the whole one, or the part for which a script was included. */
  message: SieveMessage;
  /** Part of the innermost `foreverypart` (RFC 5703 section 3); undefined outside of one. */
  part: SievePart | undefined;
  /** Values of variables by their names in lower case. */
  variables = new Map<string, string>();
  /** Values of the variables that scripts share (RFC 6609 section 3.4). */
  readonly globals = new Map<string, string>();
  /** Keys of the scripts that were included so far, and of those that run. */
  readonly included = new Set<string>();
  readonly including: string[] = [];
  readonly list: ActionList;
  readonly remembered: RememberedKey[] = [];
  /** Texts of the last `:matches` that was true (RFC 5229 section 3.2). */
  matchValues: readonly string[] = [];
  /** Flags of messages that are stored without flags of their own (RFC 5232 section 3). */
  flags: readonly string[] = [];
  /** Line of the command that runs. */
  line = 0;
  /** Name of the included script that runs; undefined in the script itself. */
  script: string | undefined;
  /** Keys of messages that came before (RFC 7352). */
  readonly duplicates: ReadonlySet<string>;
  #folders: Folders | undefined;
  #steps = 0;
  /** Steps that are not whole yet. */
  #parts = 0;

  constructor(input: RunInput) {
    this.input = input;
    this.list = new ActionList(input.earlier);
    this.whole = new SieveMessage(input.message);
    this.message = this.whole;
    this.duplicates = new Set(input.duplicates);
  }

  beginCommand(line: number): void {
    this.line = line;
    this.spend(1);
  }

  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) this.fail(`the script takes more than ${MAX_STEPS} steps`);
  }

  /** Counts text that is made, or whose characters are compared one by one. */
  spendOnText(characters: number): void {
    this.#spendPart(characters / CHARACTERS_PER_STEP);
  }

  /** Counts text that is searched for another text. */
  spendOnSearch(characters: number): void {
    this.#spendPart(1 + characters / SEARCHED_CHARACTERS_PER_STEP);
  }

  /** Counts text whose characters are mapped one by one. */
  spendOnMapping(characters: number): void {
    this.#spendPart(characters / MAPPED_CHARACTERS_PER_STEP);
  }

  #spendPart(steps: number): void {
    this.#parts += steps;
    const whole = Math.floor(this.#parts);
    this.#parts -= whole;
    this.spend(whole);
  }

  /** Ends the run, whose message is then kept (RFC 5228 section 2.10.6). */
  fail(message: string): never {
    throw new RunFault(message);
  }

  /** Returns the folders of the account, or ends the run where they are not known. */
  get folders(): Folders {
    if (!this.input.folders) throw new InputNeeded({ what: 'folders' });
    this.#folders ??= new Folders(this.input.folders);
    return this.#folders;
  }

  /**
   * Returns the values of the annotations of a mailbox by their names in lower case, or ends the run where they are not known. The
   * server has an empty name.
   */
  annotationsOf(mailbox: string): ReadonlyMap<string, string> {
    const known = this.input.annotations?.find((annotations) => annotations.mailbox === mailbox);
    if (!known) throw new InputNeeded({ what: 'annotations', mailbox });
    this.spend(known.entries.length);
    return new Map(known.entries.map(({ entry, value }) => [entry.toLowerCase(), value]));
  }

  /** Returns which addresses are in the address book, or ends the run where that is not known. */
  knownContacts(addresses: readonly string[]): ReadonlyMap<string, boolean> {
    const known = new Map((this.input.contacts ?? []).map(({ address, isKnown }) => [address, isKnown]));
    const unknown = addresses.filter((address) => !known.has(address));
    if (unknown.length > 0) throw new InputNeeded({ what: 'contacts', addresses: unknown });
    return known;
  }

  /** Takes an action, which replaces the implicit keep unless it leaves it. */
  take(action: Action, { leavesKeep = false } = {}): void {
    const problem = this.list.add(action);
    if (problem) this.fail(problem);
    if (!leavesKeep) this.list.isImplicitlyKept = false;
  }

  /**
   * Runs an included script. It has variables of its own, and sees the part of the innermost `foreverypart` as if it were the message
   * (RFC 6609 section 3.5).
   */
  inScript(name: string, script: Script): Flow {
    const { message, part, variables, matchValues, line, script: outer } = this;
    if (part) this.message = message.partAsMessage(part);
    this.part = undefined;
    this.variables = new Map();
    this.matchValues = [];
    this.script = name;
    const flow = script.run(this);
    Object.assign(this, { message, part, variables, matchValues, line, script: outer });
    return flow;
  }

  /** Returns what all actions on a line of the script have in common. */
  origin(): Pick<Action, 'line' | 'script' | 'header'> {
    return { line: this.line, script: this.script, header: this.whole.editedHeader() };
  }
}
