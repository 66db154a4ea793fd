/** Exports the tracked links of a broadcast as a file, with their clicks. */
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineRead } from '../../db/operation.ts';
import type { ExportHandler, ExportSlice } from '../../exports/handler.ts';
import { guardText } from '../../imports/cells.ts';
import { csvLine } from '../../imports/write-csv.ts';
import { type ClickedLink, listClickedLinks } from './list.ts';

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
