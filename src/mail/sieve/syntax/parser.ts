/**
 * Parses a script into its tree by the generic grammar (RFC 5228 section 8.2), which knows no command by name. `at` is the offset of a node
 * in the text.
 */
import { Lexer, type Token } from './lexer.ts';
import { ScriptFault } from './script-error.ts';

export type StringNode = { at: number; value: string };

export type ArgumentNode =
  /** A string, or a list of strings in brackets. */
  | { kind: 'strings'; at: number; strings: readonly StringNode[]; isList: boolean }
  | { kind: 'number'; at: number; value: number }
  /** A tag. Its name is in lower case and has no colon. */
  | { kind: 'tag'; at: number; name: string };

/** A test, or what a command has in common with it. The name is in lower case. */
export type CallNode = {
  at: number;
  name: string;
  arguments: readonly ArgumentNode[];
  tests: readonly CallNode[];
  /** True when the tests are in parentheses. */
  isTestList: boolean;
};

export type CommandNode = CallNode & {
  /** Commands in braces; undefined when the command ends with a semicolon. */
  block: readonly CommandNode[] | undefined;
};

/** Maximum depth of blocks and tests together. RFC 5228 section 2.10.7 asks for 15 of each. */
const MAX_NESTING = 64;

/**
 * Returns the commands of a script.
 * @throws ScriptFault at the first syntax error
 */
export function parseScript(text: string): readonly CommandNode[] {
  return new Parser(text).readScript();
}

class Parser {
  readonly #lexer: Lexer;
  #token: Token;
  #depth = 0;

  constructor(text: string) {
    this.#lexer = new Lexer(text);
    this.#token = this.#lexer.next();
  }

  readScript(): CommandNode[] {
    const commands = this.#readCommands();
    if (this.#token.kind !== 'end') throw this.#unexpected('a command');
    return commands;
  }

  #readCommands(): CommandNode[] {
    const commands: CommandNode[] = [];
    while (this.#token.kind === 'identifier') commands.push(this.#readCommand());
    return commands;
  }

  #readCommand(): CommandNode {
    const call = this.#readCall();
    if (this.#accept(';')) return { ...call, block: undefined };
    if (this.#token.kind !== '{') throw this.#unexpected('`;` or a block');
    this.#descend(true);
    const block = this.#readCommands();
    this.#depth--;
    if (!this.#accept('}')) throw this.#unexpected('a command or `}`');
    return { ...call, block };
  }

  /** Reads a name with its arguments and tests. */
  #readCall(): CallNode {
    const token = this.#token;
    if (token.kind !== 'identifier') throw this.#unexpected('a test');
    this.#advance();
    const args = this.#readArguments();
    const isTestList = this.#token.kind === '(';
    return { at: token.at, name: token.text, arguments: args, tests: this.#readTests(), isTestList };
  }

  #readArguments(): ArgumentNode[] {
    const args: ArgumentNode[] = [];
    for (;;) {
      const token = this.#token;
      if (token.kind === 'tag') args.push({ kind: 'tag', at: token.at, name: token.text });
      else if (token.kind === 'number') args.push({ kind: 'number', at: token.at, value: token.value });
      else if (token.kind === 'string')
        args.push({ kind: 'strings', at: token.at, strings: [stringOf(token)], isList: false });
      else if (token.kind === '[') args.push(this.#readStringList());
      else return args;
      if (token.kind !== '[') this.#advance();
    }
  }

  #readStringList(): ArgumentNode {
    const { at } = this.#token;
    const strings: StringNode[] = [];
    this.#advance();
    do strings.push(this.#readString());
    while (this.#accept(','));
    if (!this.#accept(']')) throw this.#unexpected('`,` or `]`');
    return { kind: 'strings', at, strings, isList: true };
  }

  #readString(): StringNode {
    const token = this.#token;
    if (token.kind !== 'string') throw this.#unexpected('a string');
    this.#advance();
    return stringOf(token);
  }

  #readTests(): CallNode[] {
    const isList = this.#token.kind === '(';
    if (this.#token.kind !== 'identifier' && !isList) return [];
    this.#descend(isList);
    const tests = [this.#readCall()];
    while (isList && this.#accept(',')) tests.push(this.#readCall());
    this.#depth--;
    if (isList && !this.#accept(')')) throw this.#unexpected('`,` or `)`');
    return tests;
  }

  /** Goes one level deeper, after a brace or a parenthesis. */
  #descend(isOpened: boolean): void {
    this.#depth++;
    if (this.#depth > MAX_NESTING)
      throw new ScriptFault(`blocks and tests are nested more than ${MAX_NESTING} deep`, this.#token.at);
    if (isOpened) this.#advance();
  }

  #accept(kind: Token['kind']): boolean {
    if (this.#token.kind !== kind) return false;
    this.#advance();
    return true;
  }

  #advance(): void {
    this.#token = this.#lexer.next();
  }

  #unexpected(expected: string): ScriptFault {
    const found = this.#token.kind === 'end' ? 'the end of the script' : this.#describe();
    return new ScriptFault(`${expected} was expected, but here is ${found}`, this.#token.at);
  }

  #describe(): string {
    const token = this.#token;
    if (token.kind === 'identifier') return `\`${token.text}\``;
    if (token.kind === 'tag') return `\`:${token.text}\``;
    return token.kind === 'string' || token.kind === 'number' ? `a ${token.kind}` : `\`${token.kind}\``;
  }
}

function stringOf(token: Token & { kind: 'string' | 'tag' | 'identifier' }): StringNode {
  return { at: token.at, value: token.text };
}
