/** A command or test of a script with its arguments, for its definition. */
import type { Comparator } from '../comparator.ts';
import {
  type Call,
  joinTexts,
  type ParameterType,
  type ScriptNotes,
  type Tag,
  type Text,
  type Texts,
} from '../definition.ts';
import type { Predicate, Run, Statement } from '../run/run.ts';
import type { CallNode, CommandNode, StringNode } from '../syntax/parser.ts';
import { ScriptFault } from '../syntax/script-error.ts';
import type { BoundArguments } from './bind.ts';

/** Methods of the compiler that a call needs. */
type CallCompiler = {
  readonly notes: ScriptNotes;
  isEnabled(capability: string): boolean;
  isKnown(capability: string): boolean;
  enable(capability: string): boolean;
  enableByTest(capability: string): void;
  compileTest(node: CallNode): Predicate;
  compileBlock(nodes: readonly CommandNode[]): Statement;
  compileText(node: StringNode, type: ParameterType | undefined): Text;
  decode(node: StringNode): string;
  findComparator(name: string, at: number): Comparator;
};

/** Maximum length of a value in an error message. */
const MAX_SHOWN_CHARACTERS = 100;

export class BoundCall implements Call {
  readonly name: string;
  readonly #compiler: CallCompiler;
  readonly #node: CallNode & Partial<CommandNode>;
  readonly #bound: BoundArguments;

  constructor(compiler: CallCompiler, node: CallNode & Partial<CommandNode>, bound: BoundArguments) {
    this.name = node.name;
    this.#compiler = compiler;
    this.#node = node;
    this.#bound = bound;
  }

  get notes(): ScriptNotes {
    return this.#compiler.notes;
  }

  get tags(): readonly Tag[] {
    return this.#bound.tags;
  }

  has(name: string): boolean {
    return this.#bound.values.has(name);
  }

  tagOf(group: string): Tag | undefined {
    return this.tags.find((tag) => tag.group === group);
  }

  text(name: string): Text {
    const [node] = this.#stringsOf(name);
    if (!node) throw this.fault(`\`${name}\` is missing`);
    return this.#compiler.compileText(node, this.#bound.values.get(name)?.type);
  }

  checkedText(name: string, isValid: (value: string) => boolean, message: string): Text {
    const { source, constant, read } = this.text(name);
    if (constant !== undefined && !isValid(constant)) throw this.fault(message, name);
    if (constant !== undefined) return { source, constant, read };
    const checked = (run: Run) => {
      const value = read(run);
      if (isValid(value)) return value;
      return run.fail(`${message}, but it is ${JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS))}`);
    };
    return { source, constant, read: checked };
  }

  texts(name: string): Texts {
    const type = this.#bound.values.get(name)?.type;
    return joinTexts(this.#stringsOf(name).map((node) => this.#compiler.compileText(node, type)));
  }

  constant(name: string): string {
    return this.constants(name)[0] ?? '';
  }

  constants(name: string): readonly string[] {
    return this.#stringsOf(name).map((node) => this.#compiler.decode(node));
  }

  number(name: string): number {
    const { node } = this.#bound.values.get(name) ?? {};
    return node?.kind === 'number' ? node.value : 0;
  }

  test(): Predicate {
    return this.testList()[0] ?? (() => false);
  }

  testList(): readonly Predicate[] {
    return this.#node.tests.map((test) => this.#compiler.compileTest(test));
  }

  block(): Statement {
    return this.#compiler.compileBlock(this.#node.block ?? []);
  }

  uses(capability: string): boolean {
    return this.#compiler.isEnabled(capability);
  }

  isKnown(capability: string): boolean {
    return this.#compiler.isKnown(capability);
  }

  enableByTest(capability: string): void {
    this.#compiler.enableByTest(capability);
  }

  enable(capability: string): boolean {
    return this.#compiler.enable(capability);
  }

  comparator(): Comparator {
    const name = this.has(':comparator') ? this.constant(':comparator') : 'i;ascii-casemap';
    return this.#compiler.findComparator(name, this.#atOf(':comparator'));
  }

  fault(message: string, name = ''): ScriptFault {
    return new ScriptFault(message, this.#atOf(name));
  }

  #atOf(name: string): number {
    return this.#bound.values.get(name)?.node.at ?? this.#node.at;
  }

  #stringsOf(name: string): readonly StringNode[] {
    const { node } = this.#bound.values.get(name) ?? {};
    return node?.kind === 'strings' ? node.strings : [];
  }
}
