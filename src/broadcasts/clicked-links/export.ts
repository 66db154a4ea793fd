/** Exports the tracked links of a broadcast as a file, with their clicks. */

import type { BroadcastLinkRow } from '../../db/broadcast-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineRead, type Tx } from '../../db/operation.ts';
import type { TrackedLinkRow } from '../../db/tracking-tables.ts';
import type { ExportHandler, ExportSlice } from '../../exports/handler.ts';
import { guardText } from '../../imports/cells.ts';
import { csvLine } from '../../imports/write-csv.ts';
import { listLinkClicks } from '../../ledger/engagement/store.ts';
import { listTargets } from '../../tracking/links/store.ts';

/** A tracked link of a broadcast. Clicks by machines are counted apart. */
type ClickedLink = Pick<TrackedLinkRow, 'number' | 'url'> &
  Pick<BroadcastLinkRow, 'clicks' | 'uniqueClicks' | 'machineClicks'>;

const NO_CLICKS = { clicks: 0, uniqueClicks: 0, machineClicks: 0 };

/** The filter in the form that the job stores. */
export type LinkExportFilter = { broadcastId: BroadcastRow['id'] };

const HEADINGS = ['number', 'url', 'clicks', 'uniqueClicks', 'machineClicks'];

/** A broadcast has at most some hundred tracked links, so one slice has them all. */
const exportLinks = defineRead(
  'broadcastLinks.export',
  async (tx, { broadcastId }: LinkExportFilter): Promise<ExportSlice> => {
    const links = await listClickedLinks(tx, broadcastId);
    return { csv: links.map(toLine).join(''), rows: links.length, last: undefined };
  },
);

function toLine({ number, url, clicks, uniqueClicks, machineClicks }: ClickedLink): string {
  return csvLine([
    String(number),
    guardText(url),
    String(clicks),
    String(uniqueClicks),
    String(machineClicks),
  ]);
}

/** Export of the tracked links of a broadcast, for the table of exports. */
export const linkExport: ExportHandler = {
  async open({ db }, { options }) {
    const filter = JSON.parse(options) as LinkExportFilter;
    return { headings: HEADINGS, readSlice: () => db.query(exportLinks, filter) };
  },
};

/** Returns all tracked links of a broadcast in the order of its HTML, those without clicks included. */
export async function listClickedLinks(
  tx: Tx,
  broadcastId: BroadcastLinkRow['broadcastId'],
): Promise<ClickedLink[]> {
  const clicks = new Map((await listLinkClicks(tx, broadcastId)).map((row) => [row.number, row]));
  return (await listTargets(tx, broadcastId)).map(({ number, url }) => {
    const { clicks: all, uniqueClicks, machineClicks } = clicks.get(number) ?? NO_CLICKS;
    return { number, url, clicks: all, uniqueClicks, machineClicks };
  });
}
