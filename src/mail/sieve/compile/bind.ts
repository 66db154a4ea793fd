/** Compares the arguments of a command or test with its definition (RFC 5228 section 2.6). */
import type { Definition, Parameter, ParameterType, Tag } from '../definition.ts';
import type { ArgumentNode, CallNode, CommandNode } from '../syntax/parser.ts';
import { ScriptFault } from '../syntax/script-error.ts';

type BoundArgument = { node: ArgumentNode; type: ParameterType | undefined };

export type BoundArguments = {
  /** Arguments by the names of tags, with their colons, and of parameters. */
  values: ReadonlyMap<string, BoundArgument>;
  tags: readonly Tag[];
};

/** Returns the tag of a name. It throws a fault when there is none, or the script has not required it. */
export type FindTag = (name: string, at: number) => Tag;

type Shape = Pick<Definition<unknown>, 'parameters' | 'tests' | 'hasBlock'>;

/**
 * Returns the arguments by name.
 * @throws ScriptFault when one is missing, is of another type, or is one too many
 */
export function bindArguments(
  node: CallNode & Partial<CommandNode>,
  { parameters = [], tests, hasBlock = false }: Shape,
  findTag: FindTag,
): BoundArguments {
  const values = new Map<string, BoundArgument>();
  const tags: Tag[] = [];
  let index = 0;
  for (let argument = node.arguments[0]; argument?.kind === 'tag'; argument = node.arguments[index]) {
    const tag = findTag(`:${argument.name}`, argument.at);
    checkConflict(tag, tags, argument.at);
    index++;
    const value = tag.value && node.arguments[index];
    if (tag.value) {
      checkType(value, tag.value, { name: tag.name, at: argument.at });
      index++;
    }
    tags.push(tag);
    values.set(tag.name, { node: value ?? argument, type: tag.value });
  }
  checkNeeds(tags, values);
  bindParameters(node, { given: node.arguments.slice(index), parameters }, values);
  checkTests(node, tests);
  checkBlock(node, hasBlock);
  return { values, tags };
}

function checkConflict(tag: Tag, others: readonly Tag[], at: number): void {
  const other = others.find(({ name, group }) => name === tag.name || (group && group === tag.group));
  if (!other) return;
  const problem = other.name === tag.name ? 'is given twice' : `cannot be used with \`${other.name}\``;
  throw new ScriptFault(`\`${tag.name}\` ${problem}`, at);
}

function checkNeeds(tags: readonly Tag[], values: ReadonlyMap<string, BoundArgument>): void {
  for (const { name, needs } of tags)
    if (needs && !values.has(needs))
      throw new ScriptFault(`\`${name}\` needs \`${needs}\``, values.get(name)?.node.at ?? 0);
}

type Positional = { given: readonly ArgumentNode[]; parameters: readonly Parameter[] };

function bindParameters(
  { name, at }: CallNode,
  { given, parameters }: Positional,
  values: Map<string, BoundArgument>,
): void {
  const late = given.find(({ kind }) => kind === 'tag');
  if (late) throw new ScriptFault('tags stand before the other arguments', late.at);
  const isShort = given.length < parameters.length;
  const expected = isShort ? parameters.filter(({ isOptional = false }) => !isOptional) : parameters;
  for (const [index, parameter] of expected.entries()) {
    const argument = given[index];
    checkType(argument, parameter.type, { name: `${name}\` needs \`${parameter.name}`, at });
    if (argument) values.set(parameter.name, { node: argument, type: parameter.type });
  }
  const excess = given[expected.length];
  if (excess) throw new ScriptFault(`\`${name}\` has an argument too many`, excess.at);
}

const TYPE_NAMES: Readonly<Record<ParameterType, string>> = {
  text: 'a string',
  constant: 'a string',
  texts: 'a string or a list of strings',
  constants: 'a string or a list of strings',
  number: 'a number',
};

function checkType(
  argument: ArgumentNode | undefined,
  type: ParameterType,
  { name, at }: { name: string; at: number },
): void {
  const isRight =
    type === 'number'
      ? argument?.kind === 'number'
      : argument?.kind === 'strings' && (!argument.isList || type === 'texts' || type === 'constants');
  if (!isRight) throw new ScriptFault(`\`${name}\`: ${TYPE_NAMES[type]}`, argument?.at ?? at);
}

function checkTests({ name, at, tests, isTestList }: CallNode, expected: 'one' | 'list' | undefined): void {
  const [first] = tests;
  if (!expected && first) throw new ScriptFault(`\`${name}\` takes no test`, first.at);
  if (expected === 'one' && (!first || isTestList))
    throw new ScriptFault(`\`${name}\` needs one test, without parentheses`, first?.at ?? at);
  if (expected === 'list' && (!first || !isTestList))
    throw new ScriptFault(`\`${name}\` needs a list of tests in parentheses`, first?.at ?? at);
}

function checkBlock({ name, at, block }: CallNode & Partial<CommandNode>, hasBlock: boolean): void {
  if (hasBlock && !block) throw new ScriptFault(`\`${name}\` needs a block`, at);
  if (!hasBlock && block) throw new ScriptFault(`\`${name}\` takes no block`, at);
}
