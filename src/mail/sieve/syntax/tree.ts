/** The syntax tree of a script (RFC 5228 section 8.2). `at` is the offset of a node in the text. */

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
