/**
 * Turns the tree of a script into functions, and finds all its static errors on the way: what can be compiled cannot fail for a reason that
 * the text of the script shows.
 */
import type { Comparator } from '../comparator.ts';
import {
  BASE,
  constantText,
  type Definition,
  type Extension,
  type ParameterType,
  type ScriptNotes,
  type Text,
} from '../definition.ts';
import type { Flow, Predicate, Run, Statement } from '../run/run.ts';
import type { CallNode, CommandNode, StringNode } from '../syntax/parser.ts';
import { type LineIndex, type ScriptError, ScriptFault } from '../syntax/script-error.ts';
import { bindArguments, type FindTag } from './bind.ts';
import { BoundCall } from './call.ts';
import type { Registered, Registry } from './registry.ts';

/** Maximum number of errors that are reported for one script. People correct the first ones first. */
const MAX_ERRORS = 20;

/** Ends a check that has found the maximum number of errors. */
export class EnoughErrors extends Error {
  override readonly name = 'EnoughErrors';
}

/** Reports a part of the language that the server does not have, or that the script has not required. */
class UnavailableFault extends ScriptFault {}

export class Compiler {
  readonly lines: LineIndex;
  readonly registry: Registry;
  readonly errors: ScriptError[] = [];
  readonly notes: ScriptNotes = {
    includes: [],
    needsBody: false,
    mayRequire: true,
    loops: [],
    globals: new Set(),
    variables: new Set(),
    regexSize: 0,
  };
  readonly #enabled = new Set<string>([BASE]);

  constructor(lines: LineIndex, registry: Registry) {
    this.lines = lines;
    this.registry = registry;
  }

  isEnabled(capability: string): boolean {
    return this.#enabled.has(capability);
  }

  isKnown(capability: string): boolean {
    return this.registry.extensions.has(capability) && capability !== BASE;
  }

  /**
   * Makes a capability and those that it includes available to what follows.
   * @returns false when it is unknown
   */
  enable(capability: string): boolean {
    const extension = this.registry.extensions.get(capability);
    if (!extension || !this.isKnown(capability)) return false;
    for (const name of [capability, ...(extension.implies ?? [])]) this.#enabled.add(name);
    return true;
  }

  /** Makes a capability available that a test has found, unless it changes what strings mean (RFC 5463 section 4). */
  enableByTest(capability: string): void {
    if (!this.registry.extensions.get(capability)?.changesStrings) this.enable(capability);
  }

  /** Returns the commands as one statement. Those with an error are reported and left out. */
  compileBlock(nodes: readonly CommandNode[]): Statement {
    const lines: Line[] = [];
    for (let index = 0; index < nodes.length; ) {
      const chain = chainAt(nodes, index);
      const { line } = this.lines.positionOf(chain[0]?.at ?? 0);
      lines.push({ line, execute: this.#compileChain(chain) });
      index += chain.length;
    }
    return sequence(lines);
  }

  /** Returns a test. One with an error is reported, and is false. */
  compileTest(node: CallNode): Predicate {
    const compile = () => this.#compileCall(node, this.registry.tests, 'test');
    return this.#attempt<Predicate>(compile, failWith);
  }

  /** Returns the text of a string, in which extensions may replace parts. */
  compileText(node: StringNode, type: ParameterType | undefined): Text {
    const value = this.decode(node);
    if (type === 'constant' || type === 'constants') return constantText(value);
    const context = { notes: this.notes, uses: (capability: string) => this.isEnabled(capability) };
    for (const { parse } of this.#enabledExtensions()) {
      const text = checked(node, () => parse?.(value, context));
      if (text) return text;
    }
    return constantText(value);
  }

  /**
   * Returns the value of a constant.
   * @throws ScriptFault when an extension cannot decode it
   */
  decode(node: StringNode): string {
    let { value } = node;
    for (const extension of this.#enabledExtensions())
      value = checked(node, () => extension.decode?.(value)) ?? value;
    return value;
  }

  /**
   * Returns the comparator of a name.
   * @throws ScriptFault when it is unknown or was not required
   */
  findComparator(name: string, at: number): Comparator {
    const found = this.registry.comparators.get(name);
    if (!found) throw new UnavailableFault(`the comparator \`${name}\` is unknown`, at);
    this.#checkEnabled(name, found.capability, at);
    return found.item;
  }

  /**
   * Adds an error.
   * @throws EnoughErrors when no more of them are reported
   */
  report({ message, at }: ScriptFault): void {
    this.errors.push({ ...this.lines.positionOf(at), message });
    if (this.errors.length === MAX_ERRORS) throw new EnoughErrors();
  }

  #compileChain(chain: readonly CommandNode[]): Statement {
    const [first] = chain;
    if (first?.name !== 'require') this.notes.mayRequire = false;
    if (first?.name !== 'if') return this.#compileCommand(first as CommandNode);
    return chooseBranch(chain.map((node) => this.#compileBranch(node)));
  }

  #compileBranch(node: CommandNode): Branch {
    const hasTest = node.name !== 'else';
    const definition = { name: node.name, hasBlock: true, ...(hasTest && { tests: 'one' as const }) };
    this.#attempt<unknown>(() => bindArguments(node, definition, this.#tagFinder(node.name)), failWith);
    const [test] = node.tests;
    return {
      test: hasTest && test ? this.compileTest(test) : () => true,
      block: this.compileBlock(node.block ?? []),
    };
  }

  #compileCommand(node: CommandNode): Statement {
    return this.#attempt<Statement>(() => {
      if (node.name === 'elsif' || node.name === 'else')
        throw new ScriptFault(`\`${node.name}\` must follow \`if\` or \`elsif\``, node.at);
      return this.#compileCall(node, this.registry.commands, 'command');
    }, failWith);
  }

  #compileCall<Compiled>(
    node: CallNode,
    definitions: ReadonlyMap<string, Registered<Definition<Compiled>>>,
    kind: 'command' | 'test',
  ): Compiled {
    const { name, at } = node;
    const found = definitions.get(name);
    if (!found) throw new UnavailableFault(`the ${kind} \`${name}\` is unknown`, at);
    this.#checkEnabled(name, found.capability, at);
    const bound = bindArguments(node, found.item, this.#tagFinder(name));
    return found.item.compile(new BoundCall(this, node, bound));
  }

  #tagFinder(callName: string): FindTag {
    const tags = this.registry.tagsOf(callName);
    return (name, at) => {
      const found = tags.get(name);
      if (!found) throw new UnavailableFault(`\`${callName}\` has no tag \`${name}\``, at);
      this.#checkEnabled(name, found.capability, at);
      return found.item;
    };
  }

  #checkEnabled(name: string, capability: string, at: number): void {
    if (!this.isEnabled(capability))
      throw new UnavailableFault(`\`${name}\` needs \`require "${capability}"\``, at);
  }

  /**
   * Compiles something. An error in it is reported. When the script asks for extensions by `ihave`, one that it lacks is an error
   * only where it is used (RFC 5463 section 4).
   */
  #attempt<Compiled>(compile: () => Compiled, fail: (message: string) => Compiled): Compiled {
    try {
      return compile();
    } catch (error) {
      if (!(error instanceof ScriptFault)) throw error;
      const isDeferred = error instanceof UnavailableFault && this.isEnabled('ihave');
      if (!isDeferred) this.report(error);
      return fail(error.message);
    }
  }

  *#enabledExtensions(): Generator<Extension> {
    for (const name of this.#enabled) {
      const extension = this.registry.extensions.get(name);
      if (extension) yield extension;
    }
  }
}

/** Returns the result of reading a string. An error of it is one at its place. */
function checked<Result>({ at }: StringNode, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new ScriptFault(error.message, at);
    throw error;
  }
}

/** Returns a command or test that fails when it is used. */
function failWith(message: string): (run: Run) => never {
  return (run) => run.fail(message);
}

/** Returns the command at a place with the `elsif` and `else` that follow an `if`. */
function chainAt(nodes: readonly CommandNode[], index: number): readonly CommandNode[] {
  let end = index + 1;
  if (nodes[index]?.name === 'if') {
    while (nodes[end]?.name === 'elsif') end++;
    if (nodes[end]?.name === 'else') end++;
  }
  return nodes.slice(index, end);
}

/** A command with the line of the script on which it stands. */
type Line = { line: number; execute: Statement };

/** Returns the block of these commands. Each command is a step of the run. */
function sequence(lines: readonly Line[]): Statement {
  return (run) => {
    for (const { line, execute } of lines) {
      run.beginCommand(line);
      const flow = execute(run);
      if (flow) return flow;
    }
    return undefined;
  };
}

/** A condition and the block that runs when it is the first that is true. An `else` is always true. */
type Branch = { test: Predicate; block: Statement };

/** Returns the chain of `if`, `elsif` and `else` (RFC 5228 section 3.1). */
function chooseBranch(branches: readonly Branch[]): Statement {
  const [only] = branches;
  if (only && branches.length === 1) return (run) => (only.test(run) ? only.block(run) : undefined);
  return (run): Flow => {
    for (const { test, block } of branches) if (test(run)) return block(run);
    return undefined;
  };
}
