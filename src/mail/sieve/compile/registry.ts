/** Finds what a name means, among all extensions of a table. */
import type { Comparator } from '../comparator.ts';
import {
  type CommandDefinition,
  type Extension,
  MATCHING_TESTS,
  type Tag,
  type TestDefinition,
} from '../definition.ts';

/** A definition and the capability that a script must require for it. */
export type Registered<Item> = { capability: string; item: Item };

export class Registry {
  readonly commands = new Map<string, Registered<CommandDefinition>>();
  readonly tests = new Map<string, Registered<TestDefinition>>();
  readonly extensions = new Map<string, Extension>();
  readonly comparators = new Map<string, Registered<Comparator>>();
  /** Tags by the name of the command or test and that of the tag. */
  readonly #tags = new Map<string, Map<string, Registered<Tag>>>();

  constructor(extensions: readonly Extension[]) {
    for (const extension of extensions) this.#addDefinitions(extension);
    for (const extension of extensions) this.#addTagsToOthers(extension);
  }

  /** Returns the tags of a command or test by their names, with their colons. */
  tagsOf(name: string): ReadonlyMap<string, Registered<Tag>> {
    return this.#tags.get(name) ?? new Map();
  }

  #addDefinitions(extension: Extension): void {
    const { name: capability, commands = [], tests = [], comparators = [] } = extension;
    this.extensions.set(capability, extension);
    for (const item of commands) this.commands.set(item.name, { capability, item });
    for (const item of tests) this.tests.set(item.name, { capability, item });
    for (const { name, tags: own = [] } of [...commands, ...tests]) this.#addTags(name, capability, own);
    for (const item of comparators) this.comparators.set(item.name, { capability, item });
  }

  #addTagsToOthers({ name: capability, tags = [] }: Extension): void {
    for (const { on, tags: added } of tags) {
      const names = on === MATCHING_TESTS ? this.#matchingTests() : on;
      for (const name of names) this.#addTags(name, capability, added);
    }
  }

  #matchingTests(): string[] {
    return [...this.#tags].filter(([, tags]) => tags.has(':comparator')).map(([name]) => name);
  }

  #addTags(name: string, capability: string, tags: readonly Tag[]): void {
    const known = this.#tags.get(name) ?? new Map<string, Registered<Tag>>();
    for (const tag of tags) known.set(tag.name, { capability, item: tag });
    this.#tags.set(name, known);
  }
}
