/**
 * Keeps on disk what waits for the store: a folder for each generation, with its base and its segments. A file has its final name only when it
 * is complete and flushed, so a crash leaves nothing half. What an earlier run of the daemon has left is sent as well, and a generation whose
 * chain is known (chain/chain.ts) goes on.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flushDirectory } from '../../db/flush-files.ts';
import { writeFlushed } from '../../system/write-flushed.ts';
import { type FirstCut, isGeneration, numbered, sequenceOf } from '../names.ts';

export type SpooledBase = { generation: string; path: string; firstCut: FirstCut };
export type SpooledSegment = { generation: string; path: string; sequence: number; bytes: number };
/** The last segment of a generation. */
type LastSegment = { generation: string; sequence: number };

/** `making` while the base is made; its path while it waits; undefined once the store has it. */
type Entry = {
  base: 'making' | Omit<SpooledBase, 'generation'> | undefined;
  segments: SpooledSegment[];
  /** True when no further segment comes: the generation is removed with its last item. */
  hasEnded: boolean;
};

const BASE = 'base';
/** Folder in which a base is made, beside the segments that are collected meanwhile. */
const MAKING = 'making';
const PARTIAL = 'segment.partial';
/** File in the folder of a base that says which cut comes first after it. */
export const FIRST_CUT_FILE = 'first-cut.json';

export class Spool {
  readonly #root: string;
  /** Generations in the order of their beginnings. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /**
   * Opens the spool in a folder, with what an earlier run has left. A generation whose base was never made is of no use.
   * @param goesOn generations that may go on, each with its last segment; one after it was never sent, and is removed
   */
  constructor(root: string, goesOn: readonly LastSegment[] = []) {
    this.#root = root;
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (const generation of readdirSync(root).filter(isGeneration).sort())
      this.#read(
        generation,
        goesOn.find((one) => one.generation === generation),
      );
  }

  /** Size of the segments that wait, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the oldest segment whose base the store has. */
  nextSegment(): SpooledSegment | undefined {
    for (const { base, segments } of this.#entries.values())
      if (base === undefined && segments[0]) return segments[0];
    return undefined;
  }

  /** Returns the oldest base that waits. */
  nextBase(): SpooledBase | undefined {
    for (const [generation, { base }] of this.#entries)
      if (typeof base === 'object') return { generation, ...base };
    return undefined;
  }

  /** Begins a generation. Returns the path of the folder in which its base is made. */
  async begin(generation: string): Promise<string> {
    const making = join(this.#root, generation, MAKING);
    await mkdir(making, { recursive: true, mode: 0o700 });
    await flushDirectory(this.#root);
    this.#entries.set(generation, { base: 'making', segments: [], hasEnded: false });
    return making;
  }

  /** Adds the base of a generation: the folder of a complete backup. */
  async addBase({ generation, path: from, firstCut }: SpooledBase): Promise<void> {
    const folder = join(this.#root, generation);
    const path = join(folder, BASE);
    writeFlushed(join(from, FIRST_CUT_FILE), JSON.stringify(firstCut));
    await rename(from, path);
    await rm(join(folder, MAKING), { recursive: true, force: true });
    await flushDirectory(folder);
    this.#entry(generation).base = { path, firstCut };
  }

  /** Returns true when the base of a generation waits for the store. */
  hasBase(generation: string): boolean {
    return typeof this.#entries.get(generation)?.base === 'object';
  }

  /** Returns the first segment of a generation that waits for the store. */
  firstSegment(generation: string): SpooledSegment | undefined {
    return this.#entries.get(generation)?.segments[0];
  }

  /** Returns true for a generation that may get further segments. */
  isOpen(generation: string): boolean {
    return this.#entries.get(generation)?.hasEnded === false;
  }

  /** Returns the path at which a segment is written. `nameSegment` gives it its name. */
  partialPath(generation: string): string {
    return join(this.#root, generation, PARTIAL);
  }

  /** Gives a segment that is complete and flushed its name, durably. It is not sent before `addSegment`. */
  async nameSegment({ generation, sequence }: LastSegment): Promise<void> {
    await rename(this.partialPath(generation), join(this.#root, generation, numbered(sequence)));
    await flushDirectory(join(this.#root, generation));
  }

  /** Adds a segment that has its name. */
  addSegment({ generation, sequence, bytes }: Omit<SpooledSegment, 'path'>): void {
    const path = join(this.#root, generation, numbered(sequence));
    this.#entry(generation).segments.push({ generation, path, sequence, bytes });
    this.#bytes += bytes;
  }

  /** Removes the first segment of a generation, which the store has. */
  async removeSegment({ generation, path, bytes }: SpooledSegment): Promise<void> {
    this.#entry(generation).segments.shift();
    this.#bytes -= bytes;
    await rm(path, { force: true });
    await this.#removeIfOver(generation);
  }

  /** Removes a base that the store has. */
  async removeBase({ generation, path }: SpooledBase): Promise<void> {
    this.#entry(generation).base = undefined;
    await rm(path, { recursive: true, force: true });
    await this.#removeIfOver(generation);
  }

  /** Ends a generation, which gets no further segments. It is removed at once when its base was never made. */
  async end(generation: string): Promise<void> {
    const entry = this.#entries.get(generation);
    if (!entry) return;
    entry.hasEnded = true;
    if (entry.base === 'making') await this.#remove(generation, entry);
    else await this.#removeIfOver(generation);
  }

  async #removeIfOver(generation: string): Promise<void> {
    const entry = this.#entry(generation);
    if (entry.hasEnded && entry.base === undefined && entry.segments.length === 0)
      await this.#remove(generation, entry);
  }

  async #remove(generation: string, { segments }: Entry): Promise<void> {
    for (const { bytes } of segments) this.#bytes -= bytes;
    this.#entries.delete(generation);
    await rm(join(this.#root, generation), { recursive: true, force: true });
  }

  #entry(generation: string): Entry {
    const entry = this.#entries.get(generation);
    if (!entry) throw new Error(`the generation ${generation} has ended`);
    return entry;
  }

  #read(generation: string, last: LastSegment | undefined): void {
    const folder = join(this.#root, generation);
    const names = readdirSync(folder).sort();
    const segments: SpooledSegment[] = [];
    for (const name of names) {
      const sequence = sequenceOf(name);
      if (sequence === undefined) continue;
      const path = join(folder, name);
      if (last && sequence > last.sequence) rmSync(path);
      else segments.push({ generation, path, sequence, bytes: statSync(path).size });
    }
    const isOver = segments.length === 0 && !names.includes(BASE) && !last;
    if (isOver || names.includes(MAKING)) {
      rmSync(folder, { recursive: true, force: true });
      return;
    }
    for (const { bytes } of segments) this.#bytes += bytes;
    const base = names.includes(BASE) ? readBase(join(folder, BASE)) : undefined;
    this.#entries.set(generation, { base, segments, hasEnded: !last });
  }
}

function readBase(path: string): Omit<SpooledBase, 'generation'> {
  return { path, firstCut: JSON.parse(readFileSync(join(path, FIRST_CUT_FILE), 'utf8')) };
}
