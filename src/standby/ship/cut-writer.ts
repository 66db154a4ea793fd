/** Writes the segments of a cut, and the record of it in the chain. */
import { join } from 'node:path';
import type { App } from '../../app.ts';
import { type ChangedPages, eachPage } from '../../db/changed-pages.ts';
import type { Chain } from '../chain/chain.ts';
import type { ChainCut } from '../chain/records.ts';
import type { Scanned } from '../chain/scan.ts';
import { printsOf } from '../chain/shipped.ts';
import type { Cut } from '../cut.ts';
import { writeSegment } from '../segment/write.ts';
import type { Spool } from './spool.ts';

/** The changes of a cut. Paths are relative to the data directory. */
export type ShippedSegment = {
  /** The cut as each generation has it: while a new base is sent, it belongs to two. */
  cuts: readonly Omit<Cut, 'previous'>[];
  databases: readonly { path: string; pages: ChangedPages }[];
  files: readonly string[];
};

type WritingApp = Pick<App, 'config' | 'crashPoint'>;
type Changes = Pick<ShippedSegment, 'databases' | 'files'>;

export class CutWriter {
  readonly #app: WritingApp;
  readonly #spool: Spool;
  readonly #chain: Chain;

  constructor(app: WritingApp, { spool, chain }: { spool: Spool; chain: Chain }) {
    this.#app = app;
    this.#spool = spool;
    this.#chain = chain;
  }

  /**
   * Stores a cut on disk, from where it is sent.
   * @param scanned what the scan before has found, when this is the first cut that was collected after it
   * @throws Error when the cut is not the next one; errors of the file system
   */
  async add({ cuts, ...changes }: ShippedSegment, scanned: Scanned | undefined): Promise<void> {
    const { databases, files } = scanned ? withDifferences(changes, scanned) : changes;
    const written: (ChainCut & { bytes: number })[] = [];
    let gone: string[] = [];
    for (const cut of cuts) {
      const { generation, sequence } = cut;
      const sources = files.map((path) => ({ path, from: join(this.#app.config.dataDir, path) }));
      const segment = { databases, files: sources, cut: { ...cut, previous: this.#previousOf(cut) } };
      const { recipients } = this.#app.config.backup;
      const result = await writeSegment(segment, recipients, this.#spool.partialPath(generation));
      await this.#spool.nameSegment({ generation, sequence });
      written.push({ generation, sequence, sha256: result.sha256, bytes: result.bytes });
      gone = [...gone, ...result.gone];
    }
    this.#app.crashPoint('shipping-segment-named');
    this.#record({ databases, files, gone, takenAt: cuts[0]?.takenAt ?? 0, written }, scanned !== undefined);
    this.#app.crashPoint('shipping-segment-recorded');
    for (const { sha256: _, ...segment } of written) this.#spool.addSegment(segment);
  }

  /** Returns the SHA-256 of the segment before a cut; null for the first one. */
  #previousOf({ generation, sequence }: Omit<ChainCut, 'sha256'>): string | null {
    const before = this.#chain.last?.cuts.find((cut) => cut.generation === generation);
    if ((before?.sequence ?? 0) !== sequence - 1)
      throw new Error(`segment ${sequence} of ${generation} does not follow the last one`);
    return before?.sha256 ?? null;
  }

  #record(
    {
      databases,
      files,
      gone,
      takenAt,
      written,
    }: Changes & { gone: string[]; takenAt: number; written: (ChainCut & { bytes: number })[] },
    hasScan: boolean,
  ): void {
    const record = {
      number: (this.#chain.last?.number ?? 0) + 1,
      takenAt,
      cuts: written.map(({ bytes: _, ...cut }) => cut),
      databases: databases.map(({ path, pages }) => printsOf(path, pages)),
      files: files.filter((path) => !gone.includes(path)),
      gone,
    };
    this.#chain.append(record, hasScan);
  }
}

/** Returns what a scan has found, with the pages that were collected since the changes were followed in the place of the same ones. */
function withDifferences({ databases, files }: Changes, scanned: Scanned): Changes {
  const collected = new Map(databases.map(({ path, pages }) => [path, pages]));
  const joined: ShippedSegment['databases'][number][] = [];
  for (const [path, waiting] of scanned.pages) {
    const newer = collected.get(path);
    if (newer) {
      for (const { number, bytes } of eachPage(newer)) waiting.put(number, bytes);
      waiting.setSize(newer.databasePages);
    }
    const pages = waiting.take();
    if (pages === 'lost') throw new Error('the pages that differ are too many for a segment');
    collected.delete(path);
    if (pages) joined.push({ path, pages });
  }
  const others = [...collected].map(([path, pages]) => ({ path, pages }));
  return { databases: [...joined, ...others], files: [...new Set([...files, ...scanned.files])] };
}
