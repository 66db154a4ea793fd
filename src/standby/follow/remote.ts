/** The objects of one installation in a store, as a host reads them that follows it. */
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { ObjectStore } from '../../objects/object-store.ts';
import { readObject } from '../../objects/read-object.ts';
import {
  type BaseList,
  baseCompleteObject,
  baseObject,
  generationPrefix,
  isGeneration,
  ownerPrefix,
  segmentObject,
  sequenceOf,
} from '../names.ts';
import { StandbyError } from '../standby-error.ts';

/** Maximum size of the list of the pieces of a base, in bytes: 100 for each piece of 32 MiB, so 1 TiB takes 4 MB. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** Maximum size of the facts about a base, in bytes. Damaged mailboxes are named there. */
const MAX_FACTS_BYTES = 4 * 1024 * 1024;
/** Comes after `/` in the order of bytes, so that a name with it comes after all names below a folder. */
const AFTER_SLASH = '0';

const listSchema = Type.Object({
  pieces: Type.Array(
    Type.Object({
      name: Type.String(),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
  firstCut: Type.Object({ sequence: Type.Integer({ minimum: 1 }), takenAt: Type.Integer() }),
});
/** A generation whose base is complete. */
export type Base = BaseList & { generation: string };

const factsSchema = Type.Object({ takenAt: Type.Integer() });

export class Remote {
  readonly store: ObjectStore;
  readonly installation: string;

  constructor(store: ObjectStore, installation: string) {
    this.store = store;
    this.installation = installation;
  }

  /** Lists the generations after one, or all, the oldest first. */
  async listGenerations(after?: string): Promise<string[]> {
    const from = after && this.installation.concat('/', after, AFTER_SLASH);
    return (await foldersIn(this.store, `${this.installation}/`, from)).filter(isGeneration);
  }

  /** Returns the base of a generation; undefined while it is not complete. */
  async findBase(generation: string): Promise<Base | undefined> {
    const name = baseCompleteObject(this.installation, generation);
    const list = await this.#readJson(name, MAX_LIST_BYTES);
    if (list === undefined) return undefined;
    if (!Value.Check(listSchema, list)) throw new StandbyError(`the object ${name} is damaged`);
    return { generation, ...list };
  }

  /** Returns the newest generation after one, or of all, whose base is complete. */
  async findNewest(after?: string): Promise<Base | undefined> {
    for (const generation of (await this.listGenerations(after)).reverse()) {
      const base = await this.findBase(generation);
      if (base) return base;
    }
    return undefined;
  }

  /** Returns the newest generation with a complete base that was not taken later than a time in Unix milliseconds. */
  async findAt(at: number): Promise<Base | undefined> {
    for (const generation of (await this.listGenerations()).reverse()) {
      const base = await this.findBase(generation);
      const name = baseObject(this.installation, generation, 'backup.json');
      const facts = base && (await this.#readJson(name, MAX_FACTS_BYTES));
      if (base && Value.Check(factsSchema, facts) && facts.takenAt <= at) return base;
    }
    return undefined;
  }

  /** Returns true when the store has a segment, and with it all segments before it. */
  async hasSegment(generation: string, sequence: number): Promise<boolean> {
    const name = segmentObject(this.installation, generation, sequence);
    const [found] = await this.store.list(name);
    return found === name;
  }

  /** Returns true when the store has a segment of a generation after this one, which it does not have. */
  async hasSegmentAfter(generation: string, sequence: number): Promise<boolean> {
    const prefix = generationPrefix(this.installation, generation);
    const names = await this.store.list(prefix, segmentObject(this.installation, generation, sequence));
    return names.some((name) => sequenceOf(name.slice(prefix.length)) !== undefined);
  }

  async #readJson(name: string, maxBytes: number): Promise<unknown> {
    const bytes = await readObject(this.store, name, maxBytes);
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      throw new StandbyError(`the object ${name} is damaged`, { cause: error });
    }
  }
}

/**
 * Returns the installation that a store has.
 * @throws StandbyError when it has none, or several
 */
export async function findInstallation(store: ObjectStore): Promise<string> {
  const found: string[] = [];
  for (const folder of await foldersIn(store, ''))
    if (await isInstallation(store, folder)) found.push(folder);
  const [installation, ...others] = found;
  if (installation === undefined)
    throw new StandbyError('the store is empty: no primary has sent anything to it');
  if (others.length > 0)
    throw new StandbyError(
      `the store has several installations: choose one with --installation (${found.join(', ')})`,
    );
  return installation;
}

/** Returns true for the folder of an installation: a folder or bucket of the operator may have other things too. */
async function isInstallation(store: ObjectStore, folder: string): Promise<boolean> {
  const [name = ''] = await store.list(`${folder}/`);
  const [, part = ''] = name.split('/');
  return isGeneration(part) || name.startsWith(ownerPrefix(folder));
}

/** Lists the first parts of the names below a prefix. Names that share one are skipped, however many they are. */
async function foldersIn(store: ObjectStore, prefix: string, after?: string): Promise<string[]> {
  const folders: string[] = [];
  for (let from = after; ; ) {
    const [name] = await store.list(prefix, from);
    if (name === undefined) return folders;
    const folder = name.slice(prefix.length).split('/', 1).join('');
    folders.push(folder);
    from = prefix + folder + AFTER_SLASH;
  }
}
